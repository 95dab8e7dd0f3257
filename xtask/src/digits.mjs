// usage: node digits.mjs BINDINGS CASES — answers each case of CASES on wasm and compares with the native answer.

import { readFileSync } from "node:fs";

const [bindings, cases] = process.argv.slice(2);
const { numbers, programs, today } = JSON.parse(readFileSync(cases, "utf8"));
const [calculator, report] = await Promise.all(["engine", "report_engine"].map(load));

/** The engine of that name. The bindings are a module, whatever their ending says. */
async function load(name) {
  const source = readFileSync(`${bindings}/${name}.js`, "utf8");
  const engine = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  engine.initSync({ module: readFileSync(`${bindings}/${name}_bg.wasm`) });
  return engine;
}

let different = 0;
function compare(what, wasm, native) {
  if (wasm === native) return;
  const at = [...wasm].findIndex((c, i) => c !== native[i]);
  if (different++ < 5) console.error(`${what}\n native …${native.slice(Math.max(0, at - 60), at + 40)}\n wasm   …${wasm.slice(Math.max(0, at - 60), at + 40)}`);
}
for (const [request, native] of numbers) compare(request, calculator.answer(request), native);
for (const [file, options, native] of programs) {
  const open = new report.Report(new TextEncoder().encode(file));
  compare(options, open.text(options, today, false), native);
}
if (different > 0) {
  console.error(`${different} answers differ`);
  process.exit(1);
}
