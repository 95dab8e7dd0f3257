// Drawings: what they show is the answer's, each has its table, and each is saved as PNG and SVG.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { FORMULA, copied, launch, open, text, unfold } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("each drawing says what it shows and has its table", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await unfold(page);
  const labels = await page.locator("svg[role=img]").evaluateAll((all) => all.map((svg) => svg.getAttribute("aria-label")));
  assert.equal(labels.length, 4);
  for (const says of [/^Time, lower is better: CPU 25 s, GPU 1\.3 s/, /start-up 469 ms/, /same time at 206\.6 GFLOP/, /^Roofline of GeForce RTX 3080/]) assert.ok(labels.some((label) => says.test(label)), `${says}`);
  for (const id of ["parts", "even", "roof"]) assert.ok((await page.locator(`#${id} details.data tbody tr`).count()) >= 3, id);
  assert.equal(await page.locator("#bars table tbody tr").count(), 2);
  await context.close();
});

test("the break-even curve is the answer's: as many points, and the crossing where it says", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await unfold(page);
  const { formula, estimates } = JSON.parse(await copied(page, "JSON"));
  assert.equal(await page.locator("#even tbody tr").count(), formula.curve.length);
  assert.ok(formula.curve.some((point) => point.scale === estimates[0].break_even.scale));
  assert.match(await text(page, "even"), /10 TFLOP\s+25 s\s+1\.3 s/);
  assert.match(await page.locator("#even svg").textContent(), /206\.6 GFLOP/);
  // Where the curves cross, the lines drawn cross too.
  const dot = await page.locator("#even circle").evaluate((c) => [c.cx.baseVal.value, c.cy.baseVal.value]);
  for (const line of await page.locator("#even path.line").evaluateAll((all) => all.map((path) => path.getAttribute("d")).filter((d) => d.includes("L")))) {
    const points = line.slice(1).split("L").map((p) => p.split(" ").map(Number));
    assert.ok(points.some(([x, y]) => Math.hypot(x - dot[0], y - dot[1]) < 1), `${dot} is on ${line}`);
  }
  await context.close();
});

test("the pointer reads the curve, and leaves nothing in a saved drawing", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await unfold(page);
  const { formula } = JSON.parse(await copied(page, "JSON"));
  const x = await page.locator("#even line.mark").first().evaluate((line) => line.x1.baseVal.value);
  await page.locator("#even svg").hover({ position: { x, y: 150 } });
  assert.deepEqual(await page.locator("#even .readout text").allTextContents(), ["10 TFLOP", "CPU 25 s", "GPU 1.3 s"]);
  assert.ok(formula.curve.some((point) => point.flop === 1e13 && point.gpu_s.p50 === 1.3));
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#even .files").getByText("SVG", { exact: true }).evaluate((button) => button.click())]);
  assert.ok(!(await readFile(await file.path(), "utf8")).includes("CPU 25 s"));
  await context.close();
});

test("the roofline places the work once its memory traffic is known", async () => {
  const { page, context } = await open(browser, { hash: FORMULA });
  await unfold(page);
  assert.equal(await page.locator("#roof circle").count(), 0);
  assert.match(await page.getAttribute("#roof svg", "aria-label"), /memory traffic the work has is not known/);
  await page.fill("#in-bytes", "1 TB");
  const { formula } = JSON.parse(await copied(page, "JSON"));
  assert.equal(formula.roofline.intensity_flop_per_byte, 10);
  assert.equal(await page.locator("#roof circle").count(), 1);
  assert.match(await page.getAttribute("#roof svg", "aria-label"), /This work has 10 FLOP\/B and reaches 6\.46 TFLOP\/s/);
  await context.close();
});

test("without a CPU to compare with there is no curve, and it is said why", async () => {
  const { page, context } = await open(browser, { hash: "#bytes=1GB&gpu=L4&open=even.roof.parts" });
  await page.waitForSelector("#parts svg");
  assert.match(await text(page, "even"), /Give the CPU's rate/);
  assert.match(await text(page, "roof"), /Give an amount of arithmetic/);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`every drawing is saved as PNG and SVG (${colorScheme})`, async () => {
    const { page, context, seen } = await open(browser, { colorScheme, hash: FORMULA });
    await unfold(page);
    for (const [place, name] of [["share", "cpu-against-gpu"], ["parts", "where-the-time-goes"], ["even", "break-even"], ["roof", "roofline"]]) {
      for (const ending of ["PNG", "SVG"]) {
        const [file] = await Promise.all([page.waitForEvent("download"), page.locator(`#${place} .files`).getByText(ending, { exact: true }).click()]);
        assert.equal(file.suggestedFilename(), `${name}.${ending.toLowerCase()}`);
        const bytes = await readFile(await file.path());
        if (ending === "PNG") {
          assert.equal(bytes.subarray(1, 4).toString(), "PNG");
          assert.ok(bytes.readUInt32BE(16) > 600 && bytes.length > 2000, `${name}: ${bytes.readUInt32BE(16)} wide, ${bytes.length} bytes`);
        } else {
          const drawn = await context.newPage();
          await drawn.setContent(bytes.toString());
          assert.equal(await drawn.locator("svg > rect").first().getAttribute("fill"), colorScheme === "dark" ? "rgb(18, 22, 27)" : "rgb(255, 255, 255)");
          assert.ok(!/var\(|class=/.test(bytes.toString()), name);
          await drawn.close();
        }
      }
    }
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.requests.filter((url) => !/^(file|data|blob):/.test(url)), []);
    await context.close();
  });
}
