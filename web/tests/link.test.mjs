// Links: everything comes back, and what is broken or old is said.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FORMULA, copied, launch, open, text } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const controls = (page) => page.evaluate(() => [...document.querySelectorAll("input, select, details.fold, #expert")].map((c) => [c.id, c.value, c.checked, c.open]));

test("a link brings everything back: what is typed, open, sorted and filtered", async () => {
  const first = await open(browser, { hash: FORMULA });
  await first.page.fill("#in-flops", "7.5 TFLOP");
  await first.page.selectOption("#in-precision", "fp64");
  await first.page.locator("#expert").evaluate((d) => (d.open = true));
  await first.page.check("#in-spot");
  await first.page.fill("#in-price", "$1.10/h & more");
  await first.page.fill("#in-price", "$1.10/h");
  await first.page.click("#even summary");
  await first.page.click("#all summary");
  await first.page.click("#all thead button >> text=memory");
  await first.page.selectOption("#filter-provider", "AWS");
  await first.page.fill("#filter-memory", "24");
  const hash = new URL(await copied(first.page, "link")).hash;
  await first.page.waitForFunction((hash) => location.hash === hash, hash);
  const second = await open(browser, { hash });
  assert.deepEqual(await controls(second.page), await controls(first.page));
  assert.equal(await text(second.page, "answer"), await text(first.page, "answer"));
  await second.page.waitForSelector("#all tbody tr");
  assert.equal(await text(second.page, "all"), await text(first.page, "all"));
  assert.equal(new URL(await copied(second.page, "link")).hash, hash);
  await first.context.close();
  await second.context.close();
});

test("what no field takes stays out of the address", async () => {
  const { page, context, seen } = await open(browser);
  const good = await text(page, "big");
  await page.evaluate(() => {
    const input = document.querySelector("#in-gpu");
    input.value = "<script>".repeat(1_250_000);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  assert.match(await text(page, "note-gpu"), /has 10000000 bytes: 120 are allowed/);
  assert.equal(await text(page, "big"), good);
  await page.waitForTimeout(400);
  assert.ok((await page.evaluate(() => location.href.length)) < 2000);
  assert.ok((await copied(page, "link")).length < 2000);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("every example survives its own link", async () => {
  const { page, context } = await open(browser);
  const presets = await page.locator("#in-preset option:not([hidden])").count();
  for (let i = 0; i < presets - 1; i++) {
    await page.selectOption("#in-preset", String(i));
    const hash = new URL(await copied(page, "link")).hash;
    const again = await open(browser, { hash });
    assert.equal(await text(again.page, "side"), await text(page, "side"), hash);
    assert.equal(await again.page.inputValue("#in-preset"), String(i));
    await again.context.close();
  }
  await context.close();
});

test("a link with fields that cannot be read shows the answer without them, and says so beside each", async () => {
  const { page, context, seen } = await open(browser, { hash: "#flops=10%20TFLOP&cpu_rate=400GFLOP/s&gpu=RTX%203080&gpus=-4&data=lots" });
  assert.match(await text(page, "big"), /× faster/);
  assert.match(await text(page, "stale"), /without what cannot be read/);
  assert.match(await text(page, "note-gpus"), /negative/);
  assert.match(await text(page, "note-data"), /`lots`/);
  await page.fill("#in-data", "1GB");
  assert.match(await text(page, "stale"), /^Without “Data moved”, “GPUs”; /);
  await page.fill("#in-gpus", "2");
  assert.ok(!(await page.isVisible("#stale")));
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("an old link names what the page no longer knows", async () => {
  const { page, context, seen } = await open(browser, { hash: "#flops=10TFLOP&cpu_rate=400GFLOP/s&warp=9&kind=teleport&spot=no&open=even.gone&sort=-nope&from=zzz&upto=cheap" });
  assert.match(await text(page, "general"), /warp=9, kind=teleport, spot=no, sort=-nope, from=zzz, upto=cheap, open=gone/);
  assert.match(await text(page, "big"), /× faster/);
  assert.ok(await page.locator("#even").evaluate((d) => d.open));
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("a broken link still opens, harmlessly", async () => {
  const { page, context, seen } = await open(browser, { hash: "#flops=%E0%A4%A&&&=&foo=<img src=x onerror=alert(1)>&gpu=%00" });
  assert.deepEqual(seen.errors, []);
  assert.equal(await text(page, "big"), "No answer yet");
  assert.equal(await page.locator("img").count(), 0);
  await page.selectOption("#in-preset", "0");
  assert.equal(await text(page, "against"), "on L4");
  assert.ok(!(await page.isVisible("#general")));
  await context.close();
});

test("another link in the same window keeps the last good answer when it cannot be read", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await page.evaluate(() => (location.hash = "#flops=many"));
  await page.waitForSelector("#in-flops[aria-invalid]");
  assert.equal(await text(page, "big"), "19× faster");
  assert.ok(await page.isVisible("#stale"));
  await context.close();
});
