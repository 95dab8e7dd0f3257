// For everyone: by keyboard, by ear, on any screen, on paper; and small enough to send.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { FORMULA, PAGE, launch, open, text, unfold } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

for (const [width, height] of [[1280, 720], [360, 740]]) {
  test(`inputs, number, bars, cost and energy are above the fold at ${width} × ${height}`, async () => {
    const { page, context } = await open(browser, { width, height });
    for (const id of ["big", "bars", "bill", "in-kind", "in-matmul", "in-data", "in-precision", "in-gpu", "in-cpu_rate", "in-price"]) {
      const box = await page.locator(`#${id}`).boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= height, `${id} ends at ${box.y + box.height}`);
    }
    await context.close();
  });
}

for (const width of [320, 360, 768, 1280, 3840]) {
  test(`nothing sticks out sideways at ${width} px`, async () => {
    const { page, context } = await open(browser, { width, height: 800 });
    await unfold(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    for (const drawing of await page.locator("svg[role=img]").all()) {
      const box = await drawing.boundingBox();
      assert.ok(box.width > 0.7 * Math.min(width - 90, 600) && box.x + box.width <= width, `${box.x} + ${box.width}`);
    }
    await context.close();
  });
}

test("the answer stays in sight beside a long form, and covers nothing below it", async () => {
  const { page, context } = await open(browser);
  await unfold(page);
  const [form, answer] = [page.locator("#inputs"), page.locator("#side")];
  await page.evaluate(() => scrollTo(0, 600));
  assert.ok((await answer.boundingBox()).y >= 0);
  await page.evaluate(() => scrollTo(0, 2000));
  const [above, beside] = [await form.boundingBox(), await answer.boundingBox()];
  assert.ok(beside.y + beside.height <= above.y + above.height + 1);
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

test("by keyboard alone: an example chosen, a part opened, the table sorted", async () => {
  const { page, context } = await open(browser);
  await page.focus("#in-preset");
  await page.keyboard.press("ArrowDown");
  assert.match(await text(page, "against"), /H100/);
  await page.focus("#all summary");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#all tbody tr");
  await page.focus("#all thead button >> nth=0");
  await page.keyboard.press("Space");
  assert.equal(await page.locator("#all thead th").first().getAttribute("aria-sort"), "ascending");
  await context.close();
});

test("the answer is said once the typing pauses", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-matmul", "100");
  await page.waitForFunction(() => document.querySelector("#live").textContent.startsWith("fp32: CPU is faster"));
  assert.equal(await page.getAttribute("#live", "role"), "status");
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 360]) {
    test(`axe finds nothing (${colorScheme}, ${width} px)`, async () => {
      const { page, context } = await open(browser, { colorScheme, width, reducedMotion: "reduce" });
      await unfold(page);
      await page.fill("#in-price", "nonsense");
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 3)]), []);
      await context.close();
    });
  }
}

test("nothing moves where less motion is wanted", async () => {
  const { page, context } = await open(browser, { reducedMotion: "reduce" });
  await unfold(page);
  assert.ok(await page.evaluate(() => [...document.querySelectorAll("*")].every((node) => /^0s(, 0s)*$/.test(getComputedStyle(node).transitionDuration) && getComputedStyle(node).animationName === "none")));
  await context.close();
});

test("on paper: light, without buttons, with what was folded away, and closed again afterwards", async () => {
  const { page, context } = await open(browser, { colorScheme: "dark", hash: FORMULA });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.waitForFunction(() => document.querySelectorAll("#more .drawing svg").length === 3);
  for (const id of ["parts", "even", "roof", "method"]) assert.ok(await page.isVisible(`#${id} .body`), id);
  for (const gone of ["#share", ".files >> nth=0", "#all"]) assert.ok(!(await page.isVisible(gone)), gone);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(255, 255, 255)");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("details.fold[open]").count(), 0);
  const paper = await page.pdf({ format: "A4" });
  assert.equal(paper.subarray(0, 4).toString(), "%PDF");
  await context.close();
});

test("the whole page is at most 480 KB compressed", () => {
  const size = gzipSync(readFileSync(PAGE), { level: 9 }).length;
  assert.ok(size <= 480_000, `${size} bytes`);
});

test("paper shows the inputs that were given, and no grey examples", async () => {
  const { page, context } = await open(browser, { hash: "#flops=10TFLOP&cpu_rate=400GFLOP/s&init=900ms&spot=yes" });
  await page.emulateMedia({ media: "print" });
  const printed = () => page.locator("#expert .field").evaluateAll((all) => all.filter((f) => f.checkVisibility()).map((f) => f.id));
  assert.deepEqual(await printed(), []);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await printed(), ["field-init", "field-spot"]);
  assert.equal(await page.locator("#in-gpu").evaluate((input) => getComputedStyle(input, "::placeholder").color), "rgba(0, 0, 0, 0)");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(!(await page.locator("#expert").evaluate((d) => d.open)));
  await context.close();
});
