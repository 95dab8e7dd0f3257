// What is typed and pasted: what cannot be read is said beside its field, and the last good answer stays.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { copied, launch, open, text } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const BAD = [
  ["flops", "12abc", /unit `abc`/],
  ["flops", "-1", /negative/],
  ["flops", "1e400", /larger than any number/],
  ["flops", "NaN", /not a number/],
  ["flops", "3.5 TFLOP/s", /rate of computation/],
  ["data", "5 bananas", /B, kB, MB, GB/],
  ["data", "3 TFLOP", /amount of computation/],
  ["cpu_rate", "80 GiB", /amount of data/],
  ["cpu_rate", "0", /above zero/],
  ["gpu", "<script>alert(1)</script>", /`<script>/],
  ["utilization", "140%", /1|100/],
  ["pcie", "9.9", /4\.0/],
  ["price", "free", /./],
  ["region", "Atlantis", /Atlantis/],
  ["provider", "the shop round the corner", /no provider .* AWS, /],
  ["max_price", "0.00001", /At most/],
];

test("what cannot be read is said beside its field, and the last good answer stays", async () => {
  const { page, context, seen } = await open(browser);
  await page.locator("#expert").evaluate((d) => (d.open = true));
  // Two ways to say the same thing contradict each other.
  await page.fill("#in-link", "");
  const good = await text(page, "big");
  for (const [id, typed, says] of BAD) {
    const before = await page.inputValue(`#in-${id}`);
    await page.fill(`#in-${id}`, typed);
    assert.equal(await page.getAttribute(`#in-${id}`, "aria-invalid"), "true", `${id} = ${typed}`);
    assert.match(await text(page, `note-${id}`), says, `${id} = ${typed}`);
    assert.equal(await text(page, "big"), good);
    assert.ok(await page.isVisible("#stale"));
    await page.fill(`#in-${id}`, before);
    assert.equal(await page.getAttribute(`#in-${id}`, "aria-invalid"), null);
    assert.ok(!(await page.isVisible("#stale")));
  }
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("no work at all is said, and so are two ways to say the same", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-flops", "");
  assert.match(await text(page, "note-flops"), /no work was given/);
  await page.fill("#in-flops", "10 TFLOP");
  await page.fill("#in-cpu_time", "3 s");
  assert.match(await text(page, "note-cpu_time"), /“CPU rate” and “or CPU time” were both given/);
  assert.equal(await page.locator("[aria-invalid]").count(), 1);
  await context.close();
});

test("messages speak of the page's fields, not of the command's flags", async () => {
  const { page, context } = await open(browser);
  for (const [id, typed] of [["gpu", "no such card"], ["cpu", "no such CPU"], ["flops", ""], ["flops", "0x"], ["precision", "int8"]]) {
    if (id === "precision") await page.selectOption("#in-precision", typed);
    else await page.fill(`#in-${id}`, typed);
    assert.doesNotMatch(await text(page, "inputs"), /--[a-z]|breakeven gpus/, `${id} = ${typed}`);
    assert.doesNotMatch(await text(page, "aside"), /--[a-z]/);
    if (id !== "precision") await page.fill(`#in-${id}`, id === "flops" ? "10 TFLOP" : "");
  }
  await context.close();
});

test("units, commas, spaces and invisible marks are read as people paste them", async () => {
  const { page, context } = await open(browser);
  for (const typed of ["10,000 GFLOPS", "10.000,0 GFLOP", "10 TFLOP", "10\u00a0000\u202fGFLOP", "\u200f10\u202c TFLOP\u200e", " 1e13 ", "10'000 GFLOP"]) {
    await page.fill("#in-flops", typed);
    assert.equal(await page.getAttribute("#in-flops", "aria-invalid"), null, typed);
    assert.match(await text(page, "sentence"), /19× faster .* 1\.3 s against 25 s/, typed);
  }
  await page.fill("#in-flops", "\u202e10 TFLOP");
  assert.ok((await copied(page, "command")).includes("'10 TFLOP'"));
  await context.close();
});

test("what leads to no price is said beside the price or the provider", async () => {
  const { page, context } = await open(browser);
  await page.locator("#expert").evaluate((d) => (d.open = true));
  await page.fill("#in-gpu", "GTX 1050 Ti");
  assert.match(await text(page, "note-price"), /no price is known/);
  await page.fill("#in-price", "0,35");
  assert.match(await text(page, "note-price"), /^typical/);
  await page.fill("#in-price", "");
  await page.fill("#in-gpu", "RTX 3080");
  await page.fill("#in-provider", "Azure");
  assert.match(await text(page, "note-provider"), /no price that fits is known for 1 of 1 GPUs/);
  // A GPU that no catalogue knows has the price that is given.
  await page.fill("#in-provider", "");
  await page.fill("#in-gpu", "");
  await page.fill("#in-price", "0,35");
  assert.match(await text(page, "bill"), /\$0\.000\d/);
  await context.close();
});

test("beside a field its typical range, in it what is taken when nothing is given", async () => {
  const { page, context } = await open(browser);
  await page.locator("#expert").evaluate((d) => (d.open = true));
  await page.fill("#in-python_overhead", "");
  assert.equal(await text(page, "note-python_overhead"), "typical 0–0.5");
  assert.equal(await page.getAttribute("#in-python_overhead", "placeholder"), "10 %");
  for (const id of ["flops", "data", "cpu_rate", "cpu_time", "price"]) assert.match(await text(page, `note-${id}`), /^typical /, id);
  await context.close();
});
