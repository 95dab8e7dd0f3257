// The answer: the worked example, examples that lose, every way to say the size, and the same digits as the command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, copied, launch, open, text, unfold } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("the worked example comes first: 19×, 1.3 s against 25 s", async () => {
  const { page, context, seen } = await open(browser);
  assert.equal(await text(page, "big"), "19× faster");
  assert.match(await page.getAttribute("#bars svg", "aria-label"), /CPU 25 s, GPU 1\.3 s/);
  assert.match(await text(page, "tiles"), /206\.6 GFLOP/);
  assert.match(await text(page, "ours"), /With the catalogue and our model alone: .+ Most of the difference: you assumed 12\.5 TFLOP\/s/);
  assert.deepEqual(seen.errors, []);
  assert.equal(seen.requests.length, 1, `only the page itself is asked for: ${seen.requests}`);
  await context.close();
});

test("typing answers at once, and a smaller job is the CPU's", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-flops", "100 GFLOP");
  assert.equal(await text(page, "big"), "CPU is faster");
  assert.match(await text(page, "sentence"), /508 ms/);
  await context.close();
});

test("each example has an answer, and those that lose are the CPU's", async () => {
  const { page, context } = await open(browser);
  const names = await page.locator("#in-preset option").allInnerTexts();
  assert.ok(names.filter((name) => name.startsWith("Loses")).length === 3 && names.some((name) => name.includes("300 s")));
  for (const [i, name] of names.slice(1).entries()) {
    await page.selectOption("#in-preset", String(i));
    assert.ok(!(await page.isVisible("#stale")), name);
    assert.equal((await text(page, "big")) === "CPU is faster", name.startsWith("Loses"), name);
  }
  await context.close();
});

test("a CPU named is the one compared with, and every name is suggested", async () => {
  const { page, context } = await open(browser);
  const names = await page.locator("#cpus option").evaluateAll((all) => all.map((option) => option.value));
  assert.ok(names.length >= 20 && (await page.locator("#gpus option").count()) >= 75);
  await page.fill("#in-cpu_rate", "");
  await page.fill("#in-cpu", names[0]);
  assert.match(await text(page, "tiles"), new RegExp(`${names[0]}, time modelled`));
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  await context.close();
});

test("forms of size show their own inputs, and say what has to fit into memory", async () => {
  const { page, context } = await open(browser);
  await page.selectOption("#in-form", "matmul");
  assert.ok(!(await page.isVisible("#in-flops")));
  await page.fill("#in-matmul", "20000");
  assert.match(await text(page, "tiles"), /yes, 4\.47 GiB of 10 GiB/);
  await page.fill("#in-matmul", "100000");
  assert.equal(await text(page, "big"), "It does not fit");
  await page.selectOption("#in-form", "training");
  await page.fill("#in-parameters", "124M");
  assert.match(await text(page, "note-tokens"), /“Tokens” is missing/);
  await context.close();
});

test("memory by precision, for the values given", async () => {
  const { page, context } = await open(browser);
  await unfold(page);
  assert.match(await text(page, "footprint"), /fp32\s+3\.73 GiB[\s\S]+bf16\s+1\.86 GiB\s+training[\s\S]+int8\s+0\.93 GiB/);
  await page.fill("#in-values", "2e9");
  assert.match(await text(page, "footprint"), /fp32\s+7\.45 GiB/);
  await context.close();
});

test("the method: every input with its basis, prices with dates, figures with sources", async () => {
  const { page, context } = await open(browser);
  await unfold(page);
  const method = await text(page, "method");
  for (const part of [/effective rate = peak × utilisation/, /CPU rate\s+400 GFLOP\/s\s+given/, /read 20\d\d-\d\d-\d\d/, /your numbers\s+our model alone/, /bandwidth\s+760 GB\/s/]) assert.match(method, part);
  const links = await page.locator("#sources a").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(links.length >= 2 && links.every((link) => link.startsWith("https://")), `${links}`);
  await context.close();
});

test("the copied command gives the command the same digits", async () => {
  const { page, context } = await open(browser);
  const presets = await page.locator("#in-preset option").count();
  for (let i = 0; i < presets - 1; i++) {
    await page.selectOption("#in-preset", String(i));
    const here = JSON.parse(await copied(page, "JSON"));
    const words = (await copied(page, "command")).replace(/^breakeven/, `'${binary}'`);
    const there = JSON.parse(execFileSync("sh", ["-c", `${words} --format json`], { encoding: "utf8" }));
    assert.deepEqual(here, there, words);
    const report = execFileSync("sh", ["-c", `${words} --format markdown`], { encoding: "utf8" });
    assert.equal((await copied(page, "Markdown")).trim(), report.trim(), words);
  }
  await context.close();
});

test("our model alone has nothing of the user's that it could tell itself", async () => {
  const work = "#form=array&elements=3e8&operations=7&cpu_time=1.7s&gpu=rtx+4090";
  const [given, blank] = [await open(browser, { hash: `${work}&link=21GB/s&init=900ms&python_overhead=3%25` }), await open(browser, { hash: work })];
  const time = async ({ page }) => (await text(page, "sentence")).match(/: ([\d.]+ m?s) against/)[1];
  const alone = await time(blank);
  assert.notEqual(await time(given), alone);
  assert.match(await text(given.page, "ours"), new RegExp(`model alone: ${alone.replace(".", "\\.")}\\b.+ Most of the difference: `));
  assert.equal(await text(blank.page, "ours"), "");
  await given.context.close();
  await blank.context.close();
});

test("several GPUs apart by commas are each asked about", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-gpu", "RTX 3080, l4,");
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  assert.equal(JSON.parse(await copied(page, "JSON")).estimates.length, 2);
  assert.match(await copied(page, "command"), /--gpu 'RTX 3080,l4'/);
  await context.close();
});
