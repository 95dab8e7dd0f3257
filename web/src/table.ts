// All GPUs: sortable, filterable, drawn again at each keystroke without making elements anew.

import { el, say } from "./dom";
import { word } from "./engine";
import type { GpuEstimate } from "./schema";

interface Column {
  name: string;
  /** What the column shows. */
  text: (row: GpuEstimate) => string;
  /** What it is sorted by; `null` is not known and goes last. */
  key: (row: GpuEstimate) => number | string | null;
  /** The better end is the larger. */
  falling?: boolean;
}

const VERDICTS = { gpu: "GPU", cpu: "CPU", either: "either", unknown: "not known" } as const;

const COLUMNS: readonly Column[] = [
  { name: "GPU", text: (r) => r.name, key: (r) => r.name.toLowerCase() },
  { name: "faster", text: (r) => VERDICTS[r.verdict], key: (r) => VERDICTS[r.verdict] },
  { name: "speedup", text: (r) => word("speedup", r.speedup), key: (r) => r.speedup?.p50 ?? null, falling: true },
  { name: "time", text: (r) => word("time", r.time_s), key: (r) => r.time_s?.p50 ?? null },
  { name: "cost", text: (r) => word("cost", r.cost_usd), key: (r) => r.cost_usd?.p50 ?? null },
  { name: "energy", text: (r) => word("energy", r.energy_wh), key: (r) => r.energy_wh?.p50 ?? null },
  { name: "held back by", text: (r) => r.bound_by ?? "start-up", key: (r) => r.bound_by ?? "start-up" },
  { name: "price", text: (r) => word("usd_per_h", r.price?.usd_per_h), key: (r) => r.price?.usd_per_h ?? null },
  { name: "provider", text: (r) => (r.price ? `${r.price.provider} ${r.price.date}`.trim() : ""), key: (r) => r.price?.provider ?? null },
];

/** Makes the table; `show` draws rows into it. */
export function makeTable(body: HTMLElement): { show: (rows: readonly GpuEstimate[]) => void } {
  let shown: readonly GpuEstimate[] = [];
  let by = 2;
  let rising = false;

  const name = el("input", { type: "search", id: "filter-name" });
  const provider = el("select", { id: "filter-provider" }, el("option", { value: "" }, "any"));
  const price = el("input", { type: "number", id: "filter-price", min: "0", step: "any" });
  const heads = COLUMNS.map((column, i) => {
    const button = el("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      rising = by === i ? !rising : !column.falling;
      by = i;
      draw();
    });
    return el("th", { scope: "col" }, button);
  });
  const rows = el("tbody");
  const count = el("p", { class: "known", role: "status" });
  const labelled = (text: string, control: HTMLElement) => el("div", { class: "field" }, el("label", { for: control.id }, text), control);
  body.append(
    el("div", { class: "grid filters" }, labelled("Name has", name), labelled("Provider", provider), labelled("At most, USD/h", price)),
    count,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All GPUs" },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), rows)),
  );
  for (const control of [name, provider, price]) control.addEventListener("input", draw);

  function wanted(row: GpuEstimate): boolean {
    const limit = price.valueAsNumber;
    return row.name.toLowerCase().includes(name.value.trim().toLowerCase())
      && (provider.value === "" || row.price?.provider === provider.value)
      && (Number.isNaN(limit) || (row.price !== null && row.price.usd_per_h <= limit));
  }

  function draw(): void {
    const column = COLUMNS[by]!;
    const list = shown.filter(wanted).map((row) => ({ row, key: column.key(row) }));
    list.sort((a, b) => compare(a.key, b.key, rising));
    heads.forEach((head, i) => {
      if (i === by) head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    say(count, `${list.length} of ${shown.length} GPUs`);
    while (rows.rows.length > list.length) rows.deleteRow(-1);
    list.forEach(({ row }, i) => {
      const line = rows.rows[i] ?? emptyRow(rows);
      line.dataset["verdict"] = row.verdict;
      COLUMNS.forEach((c, k) => say(line.cells[k]!, c.text(row)));
    });
  }

  return {
    show(estimates) {
      shown = estimates;
      const providers = [...new Set(estimates.flatMap((r) => (r.price ? [r.price.provider] : [])))].sort();
      if (provider.options.length !== providers.length + 1) {
        provider.replaceChildren(el("option", { value: "" }, "any"), ...providers.map((p) => el("option", { value: p }, p)));
      }
      draw();
    },
  };
}

function emptyRow(rows: HTMLTableSectionElement): HTMLTableRowElement {
  const row = rows.insertRow();
  row.append(el("th", { scope: "row" }), ...COLUMNS.slice(1).map(() => el("td")));
  return row;
}

function compare(a: number | string | null, b: number | string | null, rising: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return rising ? order : -order;
}
