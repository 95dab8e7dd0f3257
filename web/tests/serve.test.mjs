// The page as `breakeven serve` gives it: its script runs under the policy of the header, and it asks for nothing else.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { binary, launch, open } from "./browser.mjs";

let browser, server, url;
before(async () => {
  server = spawn(binary, ["serve", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  url = String(line).trim();
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.kill("SIGTERM");
  assert.deepEqual(await once(server, "exit"), [0, null]);
});

test("it computes, and talks to nobody", async () => {
  const { page, context, seen } = await open(browser, { url });
  assert.match(await page.locator("#big").innerText(), /× faster$/);
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.requests, [url]);
  await context.close();
});

test("no other script and no request gets past its policy", async () => {
  const { page, context, seen } = await open(browser, { url });
  const came = await page.evaluate(async (url) => {
    const script = document.createElement("script");
    script.textContent = "window.came = true";
    document.body.append(script);
    const fetched = await fetch(`${url}gpus`).then(() => true, () => false);
    return [window.came === true, fetched];
  }, url);
  assert.deepEqual(came, [false, false]);
  assert.ok(seen.errors.some((error) => /Content Security Policy/.test(error)), seen.errors.join("\n"));
  await context.close();
});

test("a page of another site can neither show it nor read its answers", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  // A document without an origin of its own is as foreign as any.
  await page.goto("data:text/html,<iframe></iframe>");
  const answer = await page.evaluate(
    (url) =>
      fetch(`${url}api/v1/estimate`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then(
        (reply) => reply.status,
        () => "refused",
      ),
    url,
  );
  assert.equal(answer, "refused");
  await context.close();
});

test("a workload given to the calculator opens as a report, on this machine alone", async () => {
  const { page, context, seen } = await open(browser, { url });
  const heat = fileURLToPath(new URL("../../docs/examples/heat.breakeven.json", import.meta.url));
  const [report] = await Promise.all([context.waitForEvent("page"), page.setInputFiles("#choose", heat)]);
  await report.waitForFunction(() => document.querySelector("#answer .name")?.textContent === "heat.py");
  assert.equal(report.url().replace(/#.*/, ""), `${url}report`);
  // A page that nobody of this origin opened takes nothing from others.
  await report.evaluate(() => window.postMessage(new File(["{}"], "foreign.json"), "*"));
  await report.waitForTimeout(300);
  assert.ok(!(await report.isVisible("#message")));
  assert.deepEqual(seen, { requests: [url], errors: [] });
  await context.close();
});
