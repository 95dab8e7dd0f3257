// What is typed and pasted: what cannot be read is said beside its field, and the last good answer stays.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FORMULA, copied, launch, open, run, text } from "./browser.mjs";

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
  const { page, context, seen } = await open(browser, { hash: FORMULA });
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
  const { page, context } = await open(browser, { hash: FORMULA });
  await page.fill("#in-flops", "");
  assert.match(await text(page, "note-flops"), /no work was given/);
  await page.fill("#in-flops", "10 TFLOP");
  await page.fill("#in-cpu_time", "3 s");
  assert.match(await text(page, "note-cpu_time"), /“CPU rate” and “or CPU time” were both given/);
  assert.equal(await page.locator("[aria-invalid]").count(), 1);
  await context.close();
});

test("messages speak of the page's fields, not of the command's flags", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
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
  const { page, context } = await open(browser, { hash: FORMULA });
  for (const typed of ["10,000 GFLOPS", "10.000,0 GFLOP", "10 TFLOP", "10\u00a0000\u202fGFLOP", "\u200f10\u202c TFLOP\u200e", " 1e13 ", "10'000 GFLOP"]) {
    await page.fill("#in-flops", typed);
    assert.equal(await page.getAttribute("#in-flops", "aria-invalid"), null, typed);
    assert.equal(await text(page, "big"), "19× faster", typed);
  }
  await page.fill("#in-flops", "\u202e10 TFLOP");
  assert.ok((await copied(page, "command")).includes("'10 TFLOP'"));
  await context.close();
});

test("what leads to no price is said beside the price or the provider", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
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
  await page.fill("#in-peak", "12 TFLOP/s");
  await page.fill("#in-price", "0,35");
  assert.match(await text(page, "bill"), /\$0\.000\d/);
  await context.close();
});

test("beside a field its typical range, in it what is taken when nothing is given", async () => {
  const { page, context } = await open(browser, { hash: "#flops=1TFLOP&gpu=L4&gpus=2&open=expert" });
  const grey = (id) => page.getAttribute(`#in-${id}`, "placeholder");
  for (const id of ["flops", "data", "cpu_rate", "cpu_time", "price", "python_overhead"]) assert.match(await page.textContent(`#note-${id}`), /^typical /, id);
  const { formula } = JSON.parse(await copied(page, "JSON"));
  const taken = formula.inputs.filter((input) => input.basis === "assumed" && !["cpu_rate", "data", "data_out"].includes(input.name));
  assert.ok(taken.length >= 6 && taken.some((input) => input.name === "init" && input.text === "975 ms"));
  // The same where the model answers, which echoes nothing.
  await page.selectOption("#in-form", "matmul");
  await page.fill("#in-matmul", "4000");
  await page.fill("#in-gpus", "");
  for (const { name, text } of taken) assert.equal(await grey(name), name === "init" ? "start-up of the library" : text, name);
  assert.equal(await grey("utilization"), "by the model");
  const help = run("breakeven estimate --help").matchAll(/--([a-z-]+) <\w+>\s+[^\n]*\[default: ([\w.]+)\]/g);
  const defaults = new Map([...help].map(([, flag, value]) => [flag.replaceAll("-", "_"), value]));
  for (const id of ["context", "batch", "operations", "columns"]) assert.equal(await grey(id), defaults.get(id), id);
  assert.equal(Number(defaults.get("python_overhead")), parseFloat(await grey("python_overhead")) / 100);
  await context.close();
});

test("`l4`, then `h100`, then no GPU: each answer is of the GPU in the field", async () => {
  const { page, context, seen } = await open(browser, { hash: "#form=matmul&matmul=8000&cpu=EPYC+7763" });
  const answers = [];
  for (const [typed, names] of [["l4", /^on L4$/], ["h100", /^on H100 .+ of 3 GPUs$/], ["", /of \d{3} GPUs$/]]) {
    await page.fill("#in-gpu", "");
    await page.locator("#in-gpu").pressSequentially(typed);
    assert.ok(!(await page.isVisible("#stale")), typed);
    assert.match(await text(page, "against"), names);
    const asked = JSON.parse(await copied(page, "JSON"));
    assert.deepEqual(asked.options.gpu, typed ? [typed] : []);
    answers.push(await text(page, "answer"));
  }
  assert.equal(new Set(answers).size, 3);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("another GPU takes what was given for the one before away, and Undo brings it back", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await page.locator("#in-gpu").fill("l4");
  assert.equal(await text(page, "cleared"), "Cleared: Utilisation, Peak rate, Host link (given for RTX 3080). Undo");
  for (const id of ["peak", "utilization", "link"]) assert.equal(await page.inputValue(`#in-${id}`), "", id);
  for (const [id, kept] of [["flops", "10,000 GFLOPS"], ["data", "1GB"], ["cpu_rate", "400GFLOP/s"], ["gpu", "l4"]]) assert.equal(await page.inputValue(`#in-${id}`), kept);
  const { formula } = JSON.parse(await copied(page, "JSON"));
  assert.equal(formula.inputs.find((input) => input.name === "peak").basis, "modelled");
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await page.inputValue("#in-peak"), "12.5TFLOP/s");
  assert.equal(await page.inputValue("#in-gpu"), "l4");
  assert.ok(!(await page.isVisible("#cleared")));
  // Another name of the same GPU takes nothing away.
  await page.fill("#in-gpu", "NVIDIA L4");
  assert.equal(await page.inputValue("#in-peak"), "12.5TFLOP/s");
  await context.close();
});

test("a bad field greys the last good answer and says what that is of; the error is at the field", async () => {
  const { page, context } = await open(browser);
  await page.fill("#in-gpu", "h1000");
  assert.match(await text(page, "stale"), /^For GPU L4; no GPU of the catalogue is called `h1000`/);
  assert.match(await text(page, "note-gpu"), /`h1000`.+“All GPUs”/);
  assert.ok(await page.locator("main.stale").count());
  // What is copied is what is shown.
  assert.match(await copied(page, "command"), /--gpu L4/);
  await page.fill("#in-gpu", "L4");
  assert.ok(!(await page.locator("main.stale").count()));
  await page.fill("#in-data", "5 bananas");
  assert.match(await text(page, "stale"), /^Without “Data moved”; /);
  await context.close();
});

test("my own numbers clears every field and the answer; Reset brings the example back", async () => {
  const { page, context, seen } = await open(browser, { hash: FORMULA });
  const start = await text(page, "answer");
  await page.fill("#in-flops", "7 TFLOP");
  await page.selectOption("#in-preset", "");
  const filled = await page.evaluate(() => [...document.querySelectorAll("#inputs input")].filter((input) => input.value !== "" && input.type === "text").map((input) => input.id));
  assert.deepEqual(filled, []);
  assert.equal(await text(page, "big"), "No answer yet");
  assert.match(await text(page, "sentence"), /^To begin, give a size/);
  assert.doesNotMatch(await text(page, "side"), /25 s|faster|--/);
  assert.equal(await page.locator("#more > details:visible").count(), 0);
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  await page.fill("#in-flops", "7 TFLOP");
  assert.match(await text(page, "against"), /GPUs/);
  await page.selectOption("#in-preset", { label: "The formula, every figure given: 10 TFLOP on an RTX 3080" });
  await page.fill("#in-flops", "7 TFLOP");
  await page.click("#reset");
  assert.equal(await text(page, "answer"), start);
  assert.deepEqual(seen.errors, []);
  await context.close();
});
