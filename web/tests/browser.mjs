// Debian's Chromium, driven by playwright-core, and the page as people open it: from disk.

import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const PAGE = new URL("../../crates/breakeven-page/assets/page.html", import.meta.url);

/** The command, as installed. */
export const binary = process.env.BREAKEVEN ?? fileURLToPath(new URL("../../.venv/bin/breakeven", import.meta.url));

/** The command run by a shell, compared with the common CPU that the page takes where none is named. */
export function run(words) {
  return execFileSync("sh", ["-c", words.replace(/^breakeven/, `'${binary}'`)], { encoding: "utf8", env: { ...process.env, BREAKEVEN_CPU: "" } });
}

/** The example of the formula, every figure given, as a link. */
export const FORMULA = "#flops=10,000+GFLOPS&data=1GB&cpu_rate=400GFLOP/s&gpu=RTX+3080&peak=12.5TFLOP/s&utilization=100%25&python_overhead=0&link=32GB/s&data_out=0&init=468.75ms";

/** A browser that talks to nobody. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** The page opened, from disk unless `url` says otherwise; every request it makes and every error it prints is kept. */
export async function open(browser, { url = `file://${fileURLToPath(PAGE)}`, hash = "", width = 1280, height = 720, colorScheme = "light", reducedMotion = "no-preference" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion });
  const page = await context.newPage();
  const seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  await page.goto(`${url}${hash}`);
  await page.waitForFunction(() => document.querySelector("#big")?.textContent !== "…");
  return { page, context, seen };
}

/** What a reader sees of one part of the page. */
export const text = (page, id) => page.locator(`#${id}`).innerText();

/** Opens everything that is folded away, and waits until it is drawn. */
export async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("#more > details, #expert").forEach((d) => (d.open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("#more figure")].every((f) => f.closest("details").hidden || f.hidden || f.querySelector("svg")) && document.querySelector("#all tbody tr") && document.querySelector("#sources"));
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("details.data")].every((d) => !d.checkVisibility() || d.querySelector("table")));
}

/** What the page would put on the clipboard. */
export async function copied(page, what) {
  await page.evaluate(() => {
    globalThis.copied = undefined;
    navigator.clipboard.writeText = async (text) => void (globalThis.copied = text);
  });
  await page.getByRole("button", { name: `Copy ${what}`, exact: true }).click();
  await page.waitForFunction(() => globalThis.copied !== undefined);
  const text = await page.evaluate(() => globalThis.copied);
  await page.getByRole("button", { name: `Copy ${what}`, exact: true }).waitFor();
  return text;
}
