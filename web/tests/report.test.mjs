// The report page as people get it: a file written by the command, opened from disk.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { binary, copied, launch } from "./browser.mjs";

const HEAT = fileURLToPath(new URL("../../docs/examples/heat.breakeven.json", import.meta.url));
const EMPTY = fileURLToPath(new URL("../../crates/breakeven-page/assets/report.html", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "breakeven-report-"));
const REPORT = join(folder, "heat.html");
let browser;

const show = (...args) => execFileSync(binary, ["show", HEAT, ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
const asked = (...args) => JSON.parse(show("--format", "json", ...args));

before(async () => {
  show("--html", REPORT);
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function open({ file = REPORT, hash = "", width = 1280, height = 800, ready = true, ...context } = {}) {
  const inside = await browser.newContext({ viewport: { width, height }, ...context });
  const page = await inside.newPage();
  const seen = { requests: [], errors: [] };
  page.on("request", (request) => !request.url().startsWith("blob:") && seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  await page.goto(pathToFileURL(file).href + hash);
  if (ready) await page.waitForSelector("body.ready");
  return { page, context: inside, seen };
}

/** Does something that asks the engine, and waits for the answer. */
async function answered(page, act) {
  await act();
  await page.waitForSelector("body.asking", { timeout: 2000 }).catch(() => {});
  await page.waitForSelector("body:not(.asking)");
}

const sentence = (page) => page.locator("#answer h1").innerText();
const message = (page) => page.locator("#message").innerText();

test("the answer is there before any script, and the page asks for nothing", async () => {
  const { page, context, seen } = await open({ javaScriptEnabled: false, ready: false });
  assert.equal(await sentence(page), asked().summary.sentence);
  assert.ok((await page.locator("#gpus tbody tr").count()) > 75);
  await context.close();
  const live = await open();
  assert.deepEqual(live.seen, { requests: [pathToFileURL(REPORT).href], errors: [] });
  assert.ok((await live.page.locator(".stage canvas").count()) === 1);
  await live.context.close();
  assert.deepEqual(seen.errors, []);
});

test("what-if answers are the command's", async () => {
  const { page, context, seen } = await open();
  const cells = () => page.locator("#gpus table").first().locator("tbody tr").first().innerText();
  const before = await cells();
  const tries = [
    [["--gpu", "a100-sxm4-80gb"], () => page.fill("#if-gpu", "a100-sxm4-80gb")],
    [["--gpu", "a100-sxm4-80gb", "--price", "0.5"], () => page.fill("#if-price", "0.5")],
    [["--gpu", "a100-sxm4-80gb", "--price", "0.5", "--precision", "fp32"], () => page.selectOption("#if-precision", "fp32")],
    [["--gpu", "a100-sxm4-80gb", "--price", "0.5", "--precision", "fp32", "--size", "2"], () => page.fill("#if-size", "2")],
    [["--gpu", "a100-sxm4-80gb", "--price", "0.5", "--precision", "fp32", "--size", "2", "--policy", "naive"], () => page.selectOption("#if-policy", "naive")],
    [["--gpu", "a100-sxm4-80gb", "--price", "0.5", "--precision", "fp32", "--size", "2", "--policy", "naive", "--exclude-startup", "--runs-per-month", "1000"], async () => {
      await page.check("#if-exclude_startup");
      await page.fill("#if-runs_per_month", "1000");
    }],
  ];
  for (const [options, act] of tries) {
    await answered(page, act);
    const there = asked(...options);
    assert.equal(await sentence(page), there.summary.sentence, options.join(" "));
    const notes = await page.locator("#notes li").allInnerTexts();
    assert.deepEqual(notes, there.notes.map((note) => note.text.replaceAll("`--price`", "“Price of a GPU”")), options.join(" "));
    const figures = await page.locator("#gpus table").first().locator("tbody tr").nth(1).locator("td[data-value]").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
    const row = there.estimates[0];
    assert.deepEqual(figures, [row.time_s.p50, row.speedup.p50, row.cost_usd.p50, row.peak_bytes, row.energy_wh.p50, row.co2_g.p50, row.price.usd_per_h], options.join(" "));
  }
  await answered(page, () => page.getByRole("button", { name: "As recorded" }).click());
  assert.equal(await cells(), before);
  assert.equal(await sentence(page), asked().summary.sentence);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("the copied command gives the same answer", async () => {
  const { page, context } = await open();
  await page.focus("#if-gpu");
  await page.waitForFunction(() => document.querySelectorAll("#names option").length >= 75);
  await answered(page, () => page.fill("#if-gpu", "rtx-3080, L4"));
  await answered(page, () => page.selectOption("#if-precision", "fp32"));
  await answered(page, () => page.check("#if-spot"));
  const words = (await copied(page, "command")).replace("breakeven show heat.breakeven.json", `'${binary}' show '${HEAT}'`);
  assert.match(words, /--gpu rtx-3080,L4 .*--spot/);
  const there = JSON.parse(execFileSync("sh", ["-c", `${words} --format json`], { encoding: "utf8", maxBuffer: 1 << 28 }));
  assert.equal(await sentence(page), there.summary.sentence);
  await context.close();
});

test("what is copied as JSON and Markdown is the command's", async () => {
  const { page, context } = await open();
  await answered(page, () => page.fill("#if-gpu", "L4, h100-sxm"));
  const [here, there] = [JSON.parse(await copied(page, "JSON")), asked("--gpu", "L4,h100-sxm")];
  for (const part of ["summary", "baseline", "estimates", "sites", "reasons", "advice", "robustness"]) assert.deepEqual(here[part], there[part], part);
  assert.equal(await copied(page, "Markdown"), show("--gpu", "L4,h100-sxm", "--format", "markdown"));
  await context.close();
});

test("a link brings the switches back, and what of it cannot be read is said", async () => {
  const first = await open();
  await answered(first.page, () => first.page.fill("#if-gpu", "rtx-3080, L4"));
  await answered(first.page, () => first.page.check("#if-spot"));
  await answered(first.page, () => first.page.selectOption("#if-policy", "naive"));
  const { hash } = new URL(await copied(first.page, "link"));
  await first.page.waitForFunction((hash) => location.hash === hash, hash);
  const second = await open({ hash });
  assert.equal(await sentence(second.page), asked("--gpu", "rtx-3080,l4", "--spot", "--policy", "naive").summary.sentence);
  assert.equal(new URL(await copied(second.page, "link")).hash, hash);
  await answered(second.page, () => second.page.getByRole("button", { name: "As recorded" }).click());
  await second.page.waitForFunction(() => location.hash === "");
  const broken = await open({ hash: "#spot=no&exclude_startup=maybe&policy=none&warp=9&price=-1&x=<img src=y>" });
  assert.match(await message(broken.page), /exclude_startup=maybe, policy=none, warp=9, x=<img src=y>$/);
  assert.equal(await broken.page.getAttribute("#if-price", "aria-invalid"), "true");
  assert.equal(await sentence(broken.page), asked().summary.sentence);
  await answered(broken.page, () => broken.page.evaluate(() => (location.hash = "#gpu=l4")));
  assert.equal(await sentence(broken.page), asked("--gpu", "l4").summary.sentence);
  for (const { seen, context } of [first, second, broken]) {
    assert.deepEqual(seen.errors, []);
    await context.close();
  }
});

test("a link brings back what was unfolded and the part of the timeline", async () => {
  const first = await open();
  const said = (page) => page.waitForFunction(() => (document.querySelector(".said")?.textContent ?? "") !== "").then(() => page.locator(".said").innerText());
  const whole = await said(first.page);
  await first.page.locator("#kernels summary").click();
  await first.page.getByRole("button", { name: "After start-up" }).click();
  await first.page.focus(".stage");
  for (let i = 0; i < 4; i++) await first.page.keyboard.press("+");
  await first.page.waitForTimeout(900);
  const close = await said(first.page);
  assert.notEqual(close, whole);
  const { hash } = new URL(await copied(first.page, "link"));
  assert.match(hash, /open=kernels&at=[\d.e-]+_[\d.e-]+$/);
  const second = await open({ hash });
  await second.page.waitForFunction((close) => document.querySelector(".said")?.textContent === close, close);
  assert.ok(await second.page.locator("#kernels details").evaluate((d) => d.open));
  assert.equal(new URL(await copied(second.page, "link")).hash, hash);
  const broken = await open({ hash: "#at=5_1&open=kernels.nowhere%22]" });
  assert.match(await message(broken.page), /open=nowhere"\], at=5_1$/);
  assert.equal(await said(broken.page), whole);
  for (const { seen, context } of [first, second, broken]) {
    assert.deepEqual(seen.errors, []);
    await context.close();
  }
});

test("a link waits for the file, whose name is the command's", async () => {
  const { page, context, seen } = await open({ file: EMPTY, ready: false, hash: "#gpu=l4" });
  await answered(page, () => page.setInputFiles("#choose", { name: "my run.json", mimeType: "application/json", buffer: readFileSync(HEAT) }));
  assert.equal(await sentence(page), asked("--gpu", "l4").summary.sentence);
  assert.equal(await copied(page, "command"), "breakeven show 'my run.json' --gpu l4");
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("each chart can be saved, as it looks", async () => {
  const { page, context, seen } = await open();
  const settled = () => page.waitForFunction(() => (document.querySelector(".said")?.textContent ?? "") !== "");
  await settled();
  const charts = await page.locator("#report :is(svg.drawing, .bars, .strip, .stage)").count();
  const files = page.locator("#report .files");
  assert.ok(charts >= 5 && (await files.count()) === charts, `${await files.count()} of ${charts} charts`);
  const save = async (at, ending) => {
    const [file] = await Promise.all([page.waitForEvent("download"), files.nth(at).getByRole("button", { name: ending }).click()]);
    return [file.suggestedFilename(), readFileSync(await file.path())];
  };
  const names = new Set();
  for (let at = 0; at < charts; at++) {
    // Chromium allows a page ten downloads in a row.
    if (at % 4 === 3) await page.reload().then(settled);
    const [name, drawing] = await save(at, "SVG");
    names.add(name);
    assert.match(name, /^[\w-]+\.svg$/);
    const text = drawing.toString();
    assert.match(text, /^<svg[^>]*width="\d+[\s\S]*fill="(rgb|#)/, name);
    assert.ok(!/class="(line|fill|rule|band)|NaN|undefined/.test(text), name);
    const [shapes, words] = await page.evaluate((text) => {
      const drawn = new DOMParser().parseFromString(text, "image/svg+xml");
      return [drawn.querySelectorAll("rect, path, line, polyline, polygon").length, drawn.querySelectorAll("text").length];
    }, text);
    assert.ok(shapes > 3 && words > 3, `${name}: ${shapes} shapes, ${words} texts`);
    const [, bitmap] = await save(at, "PNG");
    assert.ok(bitmap.readUInt32BE(16) > 600 && bitmap.readUInt32BE(20) > 60, name);
    // More than one colour: it was drawn.
    assert.ok(bitmap.length > 2000, `${name}: ${bitmap.length} bytes`);
  }
  assert.equal(names.size, charts, [...names].join(" "));
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("the timeline's file is of the part that is looked at", async () => {
  const { page, context } = await open();
  await page.waitForFunction(() => (document.querySelector(".said")?.textContent ?? "") !== "");
  const drawn = async () => {
    const button = page.locator("#timeline .files").getByRole("button", { name: "SVG" });
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return readFileSync(await file.path()).toString();
  };
  const whole = await drawn();
  for (const name of ["start-up", "Python", "kernels", "copies back"]) assert.ok(whole.includes(`>${name}</text>`), name);
  const before = await page.locator(".said").innerText();
  await page.focus(".stage");
  await page.getByRole("button", { name: "After start-up" }).click();
  await page.focus(".stage");
  for (let i = 0; i < 10; i++) await page.keyboard.press("+");
  await page.waitForFunction((before) => document.querySelector(".said").textContent !== before, before);
  const close = await drawn();
  assert.match(close, />numpy\.\w+, heat\.py:\d+<\/text>/);
  assert.ok(!whole.includes(">numpy."));
  await context.close();
});

test("start-up is drawn as the breakdown tells it", async () => {
  const { page, context } = await open();
  const there = asked();
  const best = there.estimates.find((row) => row.gpu === there.summary.shown_gpu);
  const part = best.breakdown_s.startup / best.time_s.p50;
  await page.waitForFunction(() => (document.querySelector(".said")?.textContent ?? "") !== "");
  const said = await page.locator(".said").innerText();
  assert.ok(Math.abs(Number(said.match(/start-up (\d+) %/)[1]) / 100 - part) < 0.01, `${said} ${part}`);
  assert.match(await page.locator("#parts").innerText(), new RegExp(`start-up ${said.match(/start-up (\d+) %/)[1]} %`));
  await context.close();
});

test("runs of several sizes stay in every answer", async () => {
  const other = join(folder, "heat.0.5.breakeven.json");
  const half = JSON.parse(readFileSync(HEAT, "utf8"));
  half.program.wall_ns = Math.round(half.program.wall_ns / 3);
  for (const op of half.ops) op.cpu_ns = Math.round(op.cpu_ns / 4);
  writeFileSync(other, JSON.stringify(half));
  const main = join(folder, "heat.breakeven.json");
  writeFileSync(main, readFileSync(HEAT));
  const page_ = join(folder, "scaled.html");
  const scaled = (...args) => execFileSync(binary, ["show", main, other, "--scale", "1,0.5", ...args], { encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, COLUMNS: "1000" } });
  scaled("--html", page_);
  const runs = /By [^\n]*runs at [^\n]*0\.5, 1[^\n]*/;
  const { page, context, seen } = await open({ file: page_ });
  assert.match(await page.locator("#answer").innerText(), runs);
  assert.equal(await page.locator("#break-even svg").count(), 2);
  await answered(page, () => page.fill("#if-gpu", "l4"));
  await answered(page, () => page.fill("#if-price", "0.4"));

  assert.equal((await page.locator("#answer").innerText()).match(runs)[0], scaled("--gpu", "l4", "--price", "0.4").match(runs)[0]);
  const command = await copied(page, "command");
  assert.equal(command, "breakeven show heat.breakeven.json heat.0.5.breakeven.json --scale 1,0.5 --gpu l4 --price 0.4");
  const there = JSON.parse(execFileSync("sh", ["-c", `cd '${folder}' && '${binary}' ${command.slice(10)} --format json`], { encoding: "utf8", maxBuffer: 1 << 28 }));
  assert.deepEqual(JSON.parse(await copied(page, "JSON")).estimates, there.estimates);
  // Another file has no other sizes.
  await answered(page, () => page.setInputFiles("#choose", HEAT));
  assert.doesNotMatch(await page.locator("#answer").innerText(), runs);
  assert.equal(await copied(page, "command"), "breakeven show heat.breakeven.json");
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("how arrays travel can be asked where the program leaves it open", async () => {
  const choices = (page) => page.locator("#if-policy option:not([hidden])").evaluateAll((all) => all.map((o) => [o.textContent, o.disabled]));
  const { page, context, seen } = await open();
  await page.waitForFunction(() => (document.querySelector(".said")?.textContent ?? "") !== "");
  assert.deepEqual(await choices(page), [["stay on the GPU", false], ["copied at each call", false]]);
  const written = JSON.parse(readFileSync(HEAT, "utf8"));
  for (const op of written.ops) op.device = "cuda:0";
  const body = Buffer.from(JSON.stringify(written));
  await answered(page, () => page.setInputFiles("#choose", { name: "written.json", mimeType: "application/json", buffer: body }));
  assert.ok(!(await page.isVisible("#message")), await page.locator("#message").textContent());
  assert.deepEqual(await choices(page), [["copied as the script does", false], ["copied at each call", true]]);
  assert.match(await page.locator("#if-policy-note").innerText(), /the script says itself/);
  assert.equal(JSON.parse(await copied(page, "JSON")).estimates[0].policy, "as-written");
  for (const [id, text] of [["precision", "fp32"], ["size", "2"]]) {
    await answered(page, () => (id === "size" ? page.fill("#if-size", text) : page.selectOption(`#if-${id}`, text)));
    assert.equal(await page.getAttribute(`#if-${id}`, "aria-invalid"), null, await page.locator(`#if-${id}-note`).innerText());
  }
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("the report speaks of its switches, not of the command's flags", async () => {
  const { page, context } = await open();
  await answered(page, () => page.fill("#if-price", "1"));
  const flags = ["gpu", "price", "precision", "size", "policy", "runs-per-month", "exclude-startup", "spot"].join("|");
  assert.doesNotMatch(await page.locator("#report").innerText(), new RegExp(`--(${flags})\\b`));
  await answered(page, () => page.fill("#if-price", "cheap"));
  assert.doesNotMatch(await page.locator("#if-price-note").innerText(), /--/);
  await answered(page, () => page.fill("#if-gpu", "no such card"));
  assert.doesNotMatch(await page.locator("#report").innerText(), /`breakeven gpus`/);
  await context.close();
});

/** The two pages beside each other, as somebody keeps them. */
function together(...pages) {
  const place = mkdtempSync(join(folder, "pages-"));
  for (const name of pages) writeFileSync(join(place, name), readFileSync(fileURLToPath(new URL(`../../crates/breakeven-page/assets/${name}`, import.meta.url))));
  return join(place, "page.html");
}

test("a workload dropped on the calculator or chosen there opens as a report", async () => {
  const { page, context, seen } = await open({ file: together("page.html", "report.html"), ready: false });
  await page.waitForSelector("#recorded label");
  const answer = await page.locator("#big").innerText();
  const hand = async (act) => {
    const [report] = await Promise.all([context.waitForEvent("page"), act()]);
    await report.waitForFunction(() => document.querySelector("#answer .name"));
    const shown = await report.locator("#answer h1").innerText();
    await page.waitForFunction(() => /in another window/.test(document.querySelector("#recorded").textContent));
    await report.close();
    return shown;
  };
  assert.equal(await hand(() => page.setInputFiles("#choose", HEAT)), asked().summary.sentence);
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "job.breakeven.json"));
    return data;
  }, readFileSync(HEAT, "utf8"));
  assert.equal(await hand(() => page.dispatchEvent("body", "drop", { dataTransfer: data })), asked().summary.sentence);
  // By keyboard.
  let chooser = null;
  for (let tries = 0; !chooser && tries < 5; tries++) {
    // A window that has just closed may still have the keyboard.
    await page.bringToFront();
    await page.focus("#choose");
    const asked = page.waitForEvent("filechooser", { timeout: 4000 }).catch(() => null);
    [chooser] = await Promise.all([asked, page.keyboard.press("Enter")]);
  }
  assert.equal(await hand(() => chooser.setFiles(HEAT)), asked().summary.sentence);
  assert.equal(await page.locator("#big").innerText(), answer);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("a file that is no workload is told on the calculator, and opens nothing", async () => {
  const { page, context } = await open({ file: together("page.html", "report.html"), ready: false });
  await page.waitForSelector("#recorded label");
  const large = join(folder, "huge.json");
  writeFileSync(large, "{");
  truncateSync(large, 2 ** 30);
  const answer = await page.locator("#big").innerText();
  const files = [large, ...[["empty.json", ""], ["photo.png", "\x89PNG\r\n"], ["<img src=x>‮.csv", "a,b"]].map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) }))];
  for (const file of files) {
    await page.setInputFiles("#choose", file);
    await page.waitForFunction((name) => document.querySelector("#recorded .error")?.textContent.includes(name), (file.name ?? "huge.json").replace("‮", ""));
    assert.match(await page.locator("#recorded").innerText(), /MiB and was not read|is empty|no workload file/);
  }
  assert.deepEqual([context.pages().length, await page.locator("#big").innerText(), await page.locator("#recorded img").count()], [1, answer, 0]);
  await context.close();
});

test("a calculator without a report page beside it says which command makes one", async () => {
  const { page, context } = await open({ file: together("page.html"), ready: false });
  await page.waitForSelector("#recorded label");
  await page.setInputFiles("#choose", { name: "my job.json", mimeType: "application/json", buffer: readFileSync(HEAT) });
  await page.waitForSelector("#recorded .error", { timeout: 15_000 });
  assert.match(await page.locator("#recorded").innerText(), /breakeven show 'my job\.json' --html report\.html makes one/);
  await context.close();
});

test("what cannot be is said beside its switch, and the last good report stays", async () => {
  const { page, context } = await open();
  const good = await sentence(page);
  for (const [id, text] of [["gpu", "<script>alert(1)</script>"], ["gpu", "‮txet"], ["price", "12abc"], ["price", "-1"], ["price", "1e400"], ["size", "0"], ["size", "NaN"], ["runs_per_month", "five bananas"]]) {
    await answered(page, () => page.fill(`#if-${id}`, text));
    assert.equal(await page.getAttribute(`#if-${id}`, "aria-invalid"), "true", `${id} = ${text}`);
    assert.ok((await page.locator(`#if-${id}-note`).innerText()).length > 10, `${id} = ${text}`);
    assert.equal(await sentence(page), good);
    await answered(page, () => page.fill(`#if-${id}`, ""));
    assert.equal(await page.getAttribute(`#if-${id}`, "aria-invalid"), null);
  }
  await context.close();
});

test("the table of GPUs sorts by value, not by text", async () => {
  const { page, context } = await open();
  await page.click("#gpus summary");
  const all = page.locator("#gpus details table");
  for (const [name, column] of [[/^time/, 1], [/^\$\/(run|1 000 runs)/, 3]]) {
    await all.getByRole("button", { name }).click();
    const values = await all.locator(`tbody tr`).evaluateAll((rows, column) => rows.map((row) => row.cells[column].dataset.value).filter((value) => value !== undefined).map(Number), column);
    assert.ok(values.length > 20, `${name}: ${values.length}`);
    assert.deepEqual(values, [...values].sort((a, b) => a - b), name);
  }
  assert.equal(await all.locator("th[aria-sort]").count(), 1);
  await context.close();
});

test("the timeline zooms and moves by keyboard, wheel and mouse", async () => {
  const { page, context, seen } = await open();
  const said = async (act, from) => {
    await act();
    await page.waitForFunction((from) => document.querySelector(".said").textContent !== from, from);
    return page.locator(".said").innerText();
  };
  const whole = await said(() => page.focus(".stage"), "");
  assert.match(whole, /kernels \d+ %/);
  const close = await said(async () => { for (let i = 0; i < 12; i++) await page.keyboard.press("+"); }, whole);
  const later = await said(() => page.keyboard.press("ArrowRight"), close);
  assert.notEqual(later, close);
  const box = await page.locator(".stage").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  const wheeled = await said(() => page.mouse.wheel(0, -300), later);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 40);
  await page.mouse.up();
  await page.waitForTimeout(600);
  assert.notEqual(await page.locator(".said").innerText(), wheeled);
  await page.keyboard.press("Home");
  await page.waitForFunction((whole) => document.querySelector(".said").textContent === whole, whole);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("a workload that is opened or dropped replaces the report; one that is none leaves it", async () => {
  for (const file of [REPORT, EMPTY]) {
    const { page, context, seen } = await open({ file, ready: file === REPORT });
    const choose = (name, body, mimeType = "application/json") =>
      answered(page, () => page.setInputFiles("#choose", { name, mimeType, buffer: Buffer.from(body) }));
    const heat = readFileSync(HEAT, "utf8");
    const before = await sentence(page);
    const bad = [
      ["empty.json", ""], ["cut.json", heat.slice(0, heat.length / 2)], ["other.json", '{"format": "something else"}'],
      ["list.json", "[1, 2]"], ["photo.png", "\x89PNG\r\n\x1a\n"], ["cut.json.gz", gzipSync(heat).subarray(0, 300)],
      ["newer.json", '{"format": "breakeven.workload/9"}'], ["negative.json", heat.replace(/"wall_ns": *\d+/, '"wall_ns": -1')],
      ["<img src=x onerror=alert(1)>‮.json", "nonsense"], [`${"long ".repeat(2000)}.json`, "{"],
    ];
    for (const [name, body] of bad) {
      await choose(name, body);
      const text = await message(page);
      assert.ok(text.length > 20 && text.length < 1200, `${name}: ${text}`);
      assert.ok(!text.includes("‮"));
      assert.equal(await sentence(page), before, name);
    }
    assert.equal(await page.locator("#message img").count(), 0);
    const workload = JSON.parse(heat);
    workload.program.name = "<script>alert(1)</script>‮" + "x".repeat(10_000_000);
    await choose("hostile.json.gz", gzipSync(JSON.stringify(workload)), "application/gzip");
    assert.ok(!(await page.isVisible("#message")), await page.locator("#message").textContent());
    assert.match(await page.locator("#answer .name").innerText(), /^<script>alert\(1\)<\/script>/);
    assert.ok((await page.content()).length < 2_500_000);
    // Dropped, as a file manager does it.
    await answered(page, async () => {
      const data = await page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "heat.breakeven.json"));
        return data;
      }, heat);
      await page.dispatchEvent("body", "drop", { dataTransfer: data });
    });
    assert.equal(await sentence(page), asked().summary.sentence);
    assert.equal(await page.locator(".stage canvas").count(), 1);
    assert.deepEqual(seen.errors, []);
    await context.close();
  }
});

test("a gigabyte is refused by its size, unread", async () => {
  const large = join(folder, "large.json");
  writeFileSync(large, "{");
  truncateSync(large, 2 ** 30);
  assert.equal(statSync(large).size, 2 ** 30);
  const { page, context } = await open();
  const start = Date.now();
  await page.setInputFiles("#choose", large);
  await page.waitForSelector("#message:not([hidden])");
  assert.ok(Date.now() - start < 2000);
  assert.match(await message(page), /1024 MiB and was not read: at most 256 MiB/);
  await context.close();
});

for (const width of [320, 768, 3840]) {
  test(`nothing sticks out sideways at ${width} px`, async () => {
    const { page, context } = await open({ width });
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await context.close();
  });
}

for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 320]]) {
  test(`axe finds nothing (${colorScheme}, ${width} px)`, async () => {
    const { page, context } = await open({ colorScheme, width, reducedMotion: "reduce" });
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    await answered(page, () => page.fill("#if-price", "nonsense"));
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 3)]), []);
    await context.close();
  });
}

test("paper shows the report and none of the switches", async () => {
  const { page, context } = await open({ width: 800 });
  await page.emulateMedia({ media: "print" });
  for (const hidden of [".what-if", "#tools", ".zooms"]) assert.ok(!(await page.isVisible(hidden)), hidden);
  for (const shown of ["#answer", "#gpus", "#lines", "#reasons"]) assert.ok(await page.isVisible(shown), shown);
  assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
  await context.close();
});

test("the page without data is less than 660 KB", () => {
  assert.ok(statSync(EMPTY).size < 660_000, `${statSync(EMPTY).size} bytes`);
});
