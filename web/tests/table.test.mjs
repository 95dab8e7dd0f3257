// The table of all GPUs: sorted by each column, filtered by name, provider, price and memory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { copied, launch, open } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

async function table(hash = "") {
  const { page, context } = await open(browser, { hash });
  if (!hash) await page.click("#all summary");
  // Rows are drawn once the browser has told that the part is open.
  await page.waitForSelector("#all tbody tr");
  const heads = await page.locator("#all thead button").allInnerTexts();
  const column = (name) => page.locator(`#all tbody tr > :nth-child(${heads.indexOf(name) + 1})`).allInnerTexts();
  return { page, context, heads, column };
}

/** A figure of the table in its base unit; dates and words as they are. */
function read(text) {
  if (/^\d{4}(-|$)/.test(text)) return text;
  const units = { "": 1, s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9, min: 60, h: 3600, "×": 1, GiB: 1, TiB: 1024, Wh: 1, mWh: 1e-3, "µWh": 1e-6, kWh: 1e3 };
  const found = /^\$?([\d .,]+?)\s?(×|[µmk]?Wh|[GT]iB|[nµm]?s|min|h|)(?:\/h)?( \[.*\])?$/.exec(text);
  return found ? Number(found[1].replace(/[ ,]/g, "")) * units[found[2]] : text.toLowerCase();
}

test("each column sorts both ways, what is not known last", async () => {
  const { page, context, heads, column } = await table();
  assert.ok((await column("GPU")).length >= 75);
  for (const name of heads) {
    for (let click = 0; click < 2; click++) {
      await page.click(`#all thead button >> text="${name}"`);
      const order = await page.locator("#all thead th[aria-sort]").getAttribute("aria-sort");
      const shown = await column(name);
      const known = shown.filter((text) => text !== "not known" && text !== "").map(read);
      assert.ok(shown.slice(known.length).every((text) => text === "not known" || text === ""), name);
      if (name === "faster") continue;
      for (let i = 1; i < known.length; i++) {
        const [a, b] = order === "ascending" ? [known[i - 1], known[i]] : [known[i], known[i - 1]];
        assert.ok(a <= b || Math.abs(a - b) <= 0.06 * Math.abs(b), `${name} ${order}: ${known[i - 1]}, ${known[i]}`);
      }
    }
  }
  await context.close();
});

test("filters by name, price and memory narrow it together", async () => {
  const { page, context, column } = await table();
  const all = (await column("GPU")).length;
  await page.fill("#filter-memory", "40");
  assert.ok((await column("memory")).every((text) => read(text) >= 40));
  await page.fill("#filter-price", "1.5");
  const prices = (await column("price")).map((price) => Number(price.replace(/[$/h]/g, "")));
  assert.ok(prices.length > 0 && prices.length < all && prices.every((price) => price <= 1.5), `${prices}`);
  await page.fill("#filter-name", "a100");
  assert.ok((await column("GPU")).every((name) => /a100/i.test(name)));
  await page.fill("#filter-name", "no such card");
  assert.match(await page.locator("#all [role=status]").innerText(), /^0 of/);
  await context.close();
});

test("prices of one provider are asked for anew, and a row without one goes", async () => {
  const { page, context, column } = await table();
  const cheapest = new Map((await column("GPU")).map((name, i) => [name, i]));
  const before = await column("price");
  await page.selectOption("#filter-provider", "AWS");
  const [names, prices] = [await column("GPU"), await column("price")];
  assert.ok(names.length > 3 && (await column("provider")).every((name) => name === "AWS"));
  for (const [i, name] of names.entries()) assert.ok(read(prices[i]) >= read(before[cheapest.get(name)]) || before[cheapest.get(name)] === "not known", name);
  await context.close();
});

test("its digits are those of the answer for one GPU", async () => {
  const { page, context, column } = await table("#flops=10TFLOP&cpu_rate=400GFLOP/s&open=all");
  const row = (await column("GPU")).indexOf("L4");
  const [speedup, time, memory] = [(await column("speedup"))[row], (await column("time"))[row], (await column("memory"))[row]];
  await page.fill("#in-gpu", "L4");
  const { estimates } = JSON.parse(await copied(page, "JSON"));
  assert.ok((await page.locator("#tiles").innerText()).includes(speedup));
  assert.ok((await page.getAttribute("#bars svg", "aria-label")).includes(`GPU ${time}`));
  assert.equal(memory, "24 GiB");
  assert.equal(estimates[0].memory_bytes, 24 * 1024 ** 3);
  await context.close();
});
