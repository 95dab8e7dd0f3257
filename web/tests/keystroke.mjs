// How long a keystroke takes until all GPUs are recomputed and drawn: `npm run keystroke`. On a quiet machine.

import { launch, open } from "./browser.mjs";

const browser = await launch();
const { page } = await open(browser);
await page.evaluate(() => (document.querySelector("#all").open = true));
const times = await page.evaluate(async () => {
  const input = document.querySelector("#in-matmul");
  const times = [];
  for (let i = 0; i < 100; i++) {
    await new Promise((done) => setTimeout(done, 20));
    input.value = `${8000 + 37 * i}`;
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
});
const ms = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
console.log(`keystroke to all GPUs computed and laid out: median ${ms(0.5)} ms, fastest ${ms(0)} ms, slowest of ten ${ms(0.9)} ms`);
await browser.close();
