// How long the report of a million ops takes to open, and how smoothly its timeline moves: `npm run report-speed`, with
// BREAKEVEN naming an optimised command. On a quiet machine.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const OPS = 1_000_000;
const binary = process.env.BREAKEVEN ?? fileURLToPath(new URL("../../target/release/breakeven", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "breakeven-speed-"));

/** A workload of a million tiny additions in this order, as `bench/src/bin/million_ops.rs` makes them. */
function workload(entries, counts, order) {
  const ops = Array.from({ length: entries }, (_, i) => ({
    site: i % 50, name: "numpy.add", dtype: "f64", count: counts[i],
    op: { elementwise: { n: 10 + i, inputs: 2, flop_per_element: 1.0 } },
    read_bytes: (10 + i) * 16, written_bytes: (10 + i) * 8, cpu_ns: counts[i] * 600, gap_ns: counts[i] * 200,
  }));
  const sites = Array.from({ length: 50 }, (_, i) => ({ file: "bench.py", line: i + 1 }));
  return { format: "breakeven.workload/1", program: { name: "bench.py", wall_ns: 1_000_000_000, exit: { code: 0 } }, sites, ops, order };
}

function random(entries) {
  let state = 0x9e3779b97f4a7c15n;
  const counts = Array(entries).fill(0);
  const order = Array.from({ length: OPS }, () => {
    state ^= (state << 13n) & 0xffffffffffffffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffffffffffffffffn;
    const entry = Number(state % BigInt(entries));
    counts[entry]++;
    return entry;
  });
  return workload(entries, counts, order);
}

const loop = (body) => workload(body, Array(body).fill(OPS / body), [[OPS / body, Array.from({ length: body }, (_, i) => i)]]);
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

const browser = await launch();
for (const [name, made] of [["a loop over 50 sites", loop(50)], ["random order over 50 sites", random(50)]]) {
  const file = join(folder, "million.json");
  const page = join(folder, "million.html");
  writeFileSync(file, JSON.stringify(made));
  execFileSync(binary, ["show", file, "--html", page], { stdio: "ignore" });
  const opens = [];
  const readies = [];
  let shown;
  for (let i = 0; i < 5; i++) {
    await shown?.close();
    shown = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    // Frames may show a stretched older window while the engine works: those that are new are counted, too.
    await shown.addInitScript(() => {
      globalThis.windows = 0;
      const made = globalThis.Worker;
      globalThis.Worker = class extends made {
        constructor(...args) {
          super(...args);
          this.addEventListener("message", (event) => event.data.value?.shares && globalThis.windows++);
        }
      };
    });
    const start = performance.now();
    await shown.goto(pathToFileURL(page).href, { waitUntil: "commit" });
    await shown.waitForSelector("#answer h1");
    opens.push(performance.now() - start);
    await shown.waitForSelector("body.ready", { timeout: 60_000 });
    await shown.waitForFunction(() => document.querySelector(".said")?.textContent !== "");
    // The words come 400 ms after the drawing, lest they change all the time.
    readies.push(performance.now() - start - 400);
  }
  console.log(`${name}: ${(statSync(page).size / 1e6).toFixed(2)} MB; answer after ${median(opens).toFixed(0)} ms, timeline drawn after ${median(readies).toFixed(0)} ms (median of 5)`);
  for (const [what, keys] of [["pan", ["ArrowRight", "ArrowLeft"]], ["zoom", ["+", "-"]]]) {
    const frames = await shown.evaluate(async ([keys, close]) => {
      const stage = document.querySelector(".stage");
      const press = (key) => stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      press("Home");
      for (let i = 0; i < close; i++) press("+");
      const times = [];
      const before = globalThis.windows;
      const start = performance.now();
      let n = 0;
      await new Promise((done) => {
        const step = (now) => {
          times.push(now);
          if (performance.now() - start > 3000) return done();
          press(keys[Math.floor(n++ / 20) % keys.length]);
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      });
      const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
      const seconds = (times.at(-1) - times[0]) / 1000;
      return { fps: gaps.length / seconds, slow: gaps[Math.floor(gaps.length * 0.95)], fresh: (globalThis.windows - before) / seconds };
    }, [keys, 3]);
    console.log(`  ${what}: ${frames.fps.toFixed(0)} frames a second, 95 % of them within ${frames.slow.toFixed(0)} ms; ${frames.fresh.toFixed(0)} new windows a second`);
  }
  for (const [what, gpu] of [["one GPU", "l4"], ["all GPUs", ""]]) {
    const took = await shown.evaluate(async (gpu) => {
      const start = performance.now();
      const input = document.querySelector("#if-gpu");
      input.value = gpu;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => {
        const wait = () => (document.body.classList.contains("asking") ? setTimeout(wait, 5) : done());
        setTimeout(wait, 5);
      });
      return performance.now() - start;
    }, gpu);
    console.log(`  what if ${what}: ${took.toFixed(0)} ms`);
  }
  await shown.close();
}
await browser.close();
rmSync(folder, { recursive: true });
