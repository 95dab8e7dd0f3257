// usage: node digits.mjs BINDINGS CASES — answers each request of CASES on wasm and compares with the native answer.

import { readFileSync } from "node:fs";

const [bindings, cases] = process.argv.slice(2);
// The bindings are a module, whatever their ending says.
const source = readFileSync(`${bindings}/engine.js`, "utf8");
const engine = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
engine.initSync({ module: readFileSync(`${bindings}/engine_bg.wasm`) });

let different = 0;
for (const [request, native] of JSON.parse(readFileSync(cases, "utf8"))) {
  const wasm = engine.answer(request);
  if (wasm === native) continue;
  const at = [...wasm].findIndex((c, i) => c !== native[i]);
  if (different++ < 5) console.error(`${request}\n native …${native.slice(Math.max(0, at - 60), at + 40)}\n wasm   …${wasm.slice(Math.max(0, at - 60), at + 40)}`);
}
if (different > 0) {
  console.error(`${different} answers differ`);
  process.exit(1);
}
