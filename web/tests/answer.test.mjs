// The answer: the worked example, examples that lose, every way to say the size, and the same digits as the command.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FORMULA, copied, launch, open, run, text, unfold } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("the page opens with the model's answer: a product on an L4, and no chart of the formula", async () => {
  const { page, context, seen } = await open(browser);
  const { estimates, formula, baseline } = JSON.parse(await copied(page, "JSON"));
  assert.equal(formula, undefined);
  assert.equal(await text(page, "against"), "on L4");
  assert.match(await text(page, "big"), /× faster$/);
  assert.match(await page.getAttribute("#bars svg", "aria-label"), /CPU 6\.8 s, GPU 1\.1 s/);
  assert.match(await text(page, "tiles"), /Break-even .+\s+4194×4194 \(yours: 8000×8000\)/);
  assert.match(await text(page, "tiles"), /AWS g6\.xlarge \(4 vCPU\), time modelled/);
  assert.match(await text(page, "why"), /^90 % start-up-bound: Import, context/);
  assert.match(await text(page, "notes"), /estimated as c = a @ b in fp32, its arrays are made on the GPU \(“Data moved” copies them there\)/);
  assert.equal(await text(page, "sentence"), "");
  await unfold(page);
  assert.ok(!(await page.isVisible("#roof")));
  assert.equal(await page.locator("#even tbody tr").count(), estimates[0].break_even.size.curve.length);
  assert.match(await page.getAttribute("#even svg", "aria-label"), /4194×4194/);
  assert.ok(baseline.time_s.p50 > estimates[0].time_s.p50);
  assert.deepEqual(seen.errors, []);
  assert.equal(seen.requests.length, 1, `only the page itself is asked for: ${seen.requests}`);
  await context.close();
});

test("the formula, every figure given: 19×, 1.3 s against 25 s", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  assert.match(await page.locator("#in-preset option:checked").innerText(), /every figure given/);
  assert.equal(await text(page, "big"), "19× faster");
  assert.match(await page.getAttribute("#bars svg", "aria-label"), /CPU 25 s, GPU 1\.3 s/);
  assert.match(await text(page, "tiles"), /206\.6 GFLOP/);
  assert.match(await text(page, "ours"), /With the catalogue and our model alone: .+ Most of the difference: you assumed 12\.5 TFLOP\/s/);
  await page.fill("#in-flops", "100 GFLOP");
  assert.equal(await text(page, "big"), "CPU is faster");
  assert.match(await page.getAttribute("#bars svg", "aria-label"), /GPU 508 ms/);
  await context.close();
});

test("a size with a figure of the formula says what the model has", async () => {
  const { page, context } = await open(browser);
  await page.locator("#expert").evaluate((d) => (d.open = true));
  await page.fill("#in-peak", "12 TFLOP/s");
  assert.match(await text(page, "ours"), /^“Peak rate” was given, so this is the formula's answer; the model says 1\.1 s on L4/);
  assert.ok(await page.isVisible("#roof"));
  await page.fill("#in-peak", "");
  assert.ok(!(await page.isVisible("#roof")));
  assert.equal(await text(page, "ours"), "");
  await context.close();
});

test("a network: training and inference follow from what is asked, and what does not fit says what would", async () => {
  const { page, context } = await open(browser);
  await page.selectOption("#in-form", "training");
  await page.fill("#in-parameters", "7B");
  assert.match(await text(page, "note-tokens"), /“Tokens” is missing.+“Tokens” 1B for training; “Context” 2048 “New tokens” 200 for inference/);
  await page.fill("#in-new_tokens", "200");
  assert.match(await text(page, "notes"), /inference by a transformer of 7 000 000 000 parameters/);
  assert.equal(await text(page, "big"), "It does not fit");
  assert.match(await text(page, "notes"), /GiB with “Precision” bf16/);
  await page.fill("#in-new_tokens", "");
  await page.fill("#in-tokens", "1B");
  assert.match(await text(page, "notes"), /training of a transformer of 7 000 000 000 parameters/);
  assert.match(await text(page, "notes"), /memory at its fullest: .+ optimizer state/);
  await page.fill("#in-batch", "16");
  const all = await text(page, "tiles");
  await page.check("#in-checkpointing");
  assert.notEqual(await text(page, "tiles"), all);
  await context.close();
});

test("a program of which only the CPU's time is known: the limit of any GPU", async () => {
  const { page, context, seen } = await open(browser, { hash: "#cpu_time=3h&parallel_fraction=80%25&open=all.parts.even" });
  assert.equal(await text(page, "big"), "At most 5.0× faster on any GPU");
  assert.equal(await text(page, "sentence"), "20 % of the 3 h stay on the CPU (36 min).");
  for (const id of ["parts", "even", "roof", "all"]) assert.ok(!(await page.isVisible(`#${id}`)), id);
  assert.ok(!/not known/.test(await text(page, "answer")));
  await page.selectOption("#in-kind", "simulation");
  assert.match(await text(page, "against"), /^on .+ GPUs/);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("each example has an answer, and those that lose are the CPU's", async () => {
  const { page, context } = await open(browser);
  const names = await page.locator("#in-preset option:not([hidden])").allInnerTexts();
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
  await page.fill("#in-cpu", names[0]);
  assert.match(await text(page, "tiles"), new RegExp(`${names[0]}, time modelled`));
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  await context.close();
});

test("forms of size show their own inputs, and say what has to fit into memory", async () => {
  const { page, context } = await open(browser, { hash: "#flops=1TFLOP&gpu=RTX+3080&cpu_rate=400GFLOP/s" });
  await page.selectOption("#in-form", "matmul");
  assert.ok(!(await page.isVisible("#in-flops")));
  await page.fill("#in-matmul", "20000");
  assert.match(await text(page, "tiles"), /yes, 4\.47 GiB of 10 GiB/);
  await page.fill("#in-matmul", "100000");
  assert.equal(await text(page, "big"), "It does not fit");
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
  const { page, context } = await open(browser, { hash: FORMULA });
  await unfold(page);
  const method = await text(page, "method");
  for (const part of [/effective rate = peak × utilisation/, /CPU rate\s+400 GFLOP\/s\s+given/, /read 20\d\d-\d\d-\d\d/, /your numbers\s+our model alone/, /bandwidth\s+760 GB\/s/]) assert.match(method, part);
  const links = await page.locator("#sources a").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(links.length >= 2 && links.every((link) => link.startsWith("https://")), `${links}`);
  await context.close();
});

test("the copied command gives the command the same digits", async () => {
  const { page, context } = await open(browser);
  const presets = await page.locator("#in-preset option:not([hidden])").count();
  for (let i = 0; i < presets - 1; i++) {
    await page.selectOption("#in-preset", String(i));
    const here = JSON.parse(await copied(page, "JSON"));
    const words = await copied(page, "command");
    assert.deepEqual(here, JSON.parse(run(`${words} --format json`)), words);
    const report = run(`${words} --format markdown`);
    assert.equal((await copied(page, "Markdown")).trim(), report.trim(), words);
  }
  await context.close();
});

test("our model alone has nothing of the user's that it could tell itself", async () => {
  const work = "#flops=2TFLOP&cpu_time=1.7s&gpu=rtx+4090";
  const [given, blank] = [await open(browser, { hash: `${work}&link=21GB/s&init=900ms&python_overhead=3%25` }), await open(browser, { hash: work })];
  const time = async ({ page }) => (await page.getAttribute("#bars svg", "aria-label")).match(/GPU ([\d.]+ m?s)/)[1];
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
