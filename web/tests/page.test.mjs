// The page as people use it: opened from disk, typed into, shared.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { PAGE, launch, open } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const text = (page, id) => page.locator(`#${id}`).innerText();

test("the worked example comes first: 19×, 1.3 s against 25 s", async () => {
  const { page, context, seen } = await open(browser);
  assert.equal(await text(page, "big"), "19× faster");
  assert.match(await text(page, "bars"), /25 s[\s\S]*1\.3 s/);
  assert.match(await text(page, "tiles"), /206\.6 GFLOP/);
  assert.deepEqual(seen.errors, []);
  assert.equal(seen.requests.length, 1, `only the page itself is asked for: ${seen.requests}`);
  await context.close();
});

for (const [width, height] of [[1280, 720], [360, 740]]) {
  test(`inputs, number, bars, cost and energy are above the fold at ${width} × ${height}`, async () => {
    const { page, context } = await open(browser, { width, height });
    for (const id of ["big", "bars", "bill", "in-kind", "in-flops", "in-data", "in-precision", "in-gpu", "in-cpu_rate", "in-price"]) {
      const box = await page.locator(`#${id}`).boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= height, `${id} ends at ${box.y + box.height}`);
    }
    await context.close();
  });
}

for (const width of [320, 768, 3840]) {
  test(`nothing sticks out sideways at ${width} px`, async () => {
    const { page, context } = await open(browser, { width, height: 800 });
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await context.close();
  });
}

test("typing answers at once, and a smaller job is the CPU's", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-flops", "100 GFLOP");
  assert.equal(await text(page, "big"), "CPU is faster");
  assert.match(await text(page, "sentence"), /508 ms/);
  await context.close();
});

test("what cannot be read is said beside its field, and the last good answer stays", async () => {
  const { page, context } = await open(browser);
  for (const [id, typed] of [["flops", "12abc"], ["flops", "-1"], ["flops", "1e400"], ["data", "5 bananas"], ["gpu", "<script>alert(1)</script>"], ["utilization", "140%"], ["flops", "NaN"]]) {
    await page.locator("#expert").evaluate((d) => (d.open = true));
    const before = await page.inputValue(`#in-${id}`);
    await page.fill(`#in-${id}`, typed);
    assert.equal(await page.getAttribute(`#in-${id}`, "aria-invalid"), "true", `${id} = ${typed}`);
    assert.ok((await text(page, `note-${id}`)).length > 10, `${id} = ${typed}`);
    assert.equal(await text(page, "big"), "19× faster");
    assert.ok(await page.isVisible("#stale"));
    await page.fill(`#in-${id}`, before);
    assert.equal(await page.getAttribute(`#in-${id}`, "aria-invalid"), null);
    assert.ok(!(await page.isVisible("#stale")));
  }
  await context.close();
});

test("the copied command gives the command the same digits", { skip: !process.env.BREAKEVEN && "BREAKEVEN names no command" }, async () => {
  const { page, context } = await open(browser);
  await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (globalThis.copied = text)));
  const copy = async (what) => {
    await page.getByRole("button", { name: `Copy ${what}` }).click();
    return page.evaluate(() => globalThis.copied);
  };
  const presets = await page.locator("#in-preset option").count();
  for (let i = 0; i < presets - 1; i++) {
    await page.selectOption("#in-preset", String(i));
    const here = JSON.parse(await copy("JSON"));
    const words = (await copy("command")).replace(/^breakeven/, process.env.BREAKEVEN);
    const there = JSON.parse(execFileSync("sh", ["-c", `${words} --format json`], { encoding: "utf8" }));
    assert.deepEqual(here.estimates, there.estimates, words);
    assert.deepEqual(here.formula, there.formula, words);
    await page.waitForTimeout(1600);
  }
  await context.close();
});

test("each example has an answer, and those that lose are the CPU's", async () => {
  const { page, context } = await open(browser);
  const names = await page.locator("#in-preset option").allInnerTexts();
  for (const [i, name] of names.slice(1).entries()) {
    await page.selectOption("#in-preset", String(i));
    assert.ok(!(await page.isVisible("#stale")), name);
    assert.equal((await text(page, "big")) === "CPU is faster", name.startsWith("Loses"), name);
  }
  await context.close();
});

test("the table of all GPUs sorts and filters", async () => {
  const { page, context } = await open(browser);
  await page.click("#all summary");
  // Rows are drawn once the browser has told that the part is open.
  await page.waitForSelector("#all tbody tr");
  const column = (k) => page.locator(`#all tbody tr > :nth-child(${k})`).allInnerTexts();
  const all = (await column(1)).length;
  assert.ok(all >= 75, `${all} GPUs`);
  await page.click("#all thead button >> text=GPU");
  const names = (await column(1)).map((name) => name.toLowerCase());
  assert.deepEqual(names, [...names].sort());
  assert.equal(await page.locator("#all thead th").first().getAttribute("aria-sort"), "ascending");
  await page.fill("#filter-price", "1");
  const prices = (await column(8)).map((price) => Number(price.replace(/[$/h]/g, "")));
  assert.ok(prices.length > 0 && prices.length < all && prices.every((price) => price <= 1), `${prices}`);
  await context.close();
});

test("forms of size show their own inputs", async () => {
  const { page, context } = await open(browser);
  await page.selectOption("#in-form", "matmul");
  assert.ok(!(await page.isVisible("#in-flops")));
  await page.fill("#in-matmul", "20000");
  assert.match(await page.locator("#sentence").innerText(), /RTX 3080/);
  await page.selectOption("#in-form", "training");
  await page.fill("#in-parameters", "124M");
  assert.match(await text(page, "note-tokens"), /tokens/);
  await context.close();
});

test("a link brings everything back", async () => {
  const first = await open(browser);
  await first.page.fill("#in-flops", "7,5 TFLOP & more");
  await first.page.fill("#in-flops", "7.5 TFLOP");
  await first.page.selectOption("#in-precision", "fp64");
  await first.page.evaluate(() => (document.querySelector("#in-spot").checked = true));
  await first.page.fill("#in-price", "$1.10/h");
  const hash = new URL(first.page.url()).hash;
  const second = await open(browser, { hash });
  const state = (page) => page.evaluate(() => [...document.querySelectorAll("#inputs input, #inputs select")].map((c) => [c.id, c.value, c.checked]));
  assert.deepEqual(await state(second.page), await state(first.page));
  assert.equal(await text(second.page, "answer"), await text(first.page, "answer"));
  await first.context.close();
  await second.context.close();
});

test("a broken link still opens", async () => {
  const { page, context, seen } = await open(browser, { hash: "#flops=%E0%A4%A&&&=&foo=<img src=x onerror=alert(1)>&gpu=%00&gpus=-4" });
  assert.deepEqual(seen.errors, []);
  assert.equal(await text(page, "big"), "No answer yet");
  await page.selectOption("#in-preset", "0");
  assert.equal(await text(page, "big"), "19× faster");
  await context.close();
});

test("every control is reached by the keyboard, in order", async () => {
  const { page, context } = await open(browser);
  const reached = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const id = await page.evaluate(() => document.activeElement?.id ?? "");
    if (id === "in-preset" && reached.includes(id)) break;
    reached.push(id);
  }
  const inputs = await page.evaluate(() => [...document.querySelectorAll("#inputs > .grid input, #inputs > .grid select")].filter((c) => c.checkVisibility()).map((c) => c.id));
  assert.deepEqual(reached.filter((id) => id.startsWith("in-")), inputs);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing (${colorScheme})`, async () => {
    const { page, context } = await open(browser, { colorScheme, reducedMotion: "reduce" });
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    await page.fill("#in-price", "nonsense");
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 3)]), []);
    await context.close();
  });
}

test("the whole page is at most 250 KB compressed", () => {
  const size = gzipSync(readFileSync(PAGE), { level: 9 }).length;
  assert.ok(size <= 250_000, `${size} bytes`);
});
