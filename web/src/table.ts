// All GPUs: sortable, filterable, drawn again at each keystroke without making elements anew.

import { el, say } from "./dom";
import { providers, word } from "./engine";
import type { GpuEstimate } from "./schema";
import type { View } from "./state";

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
const GIB = 1024 ** 3;

const COLUMNS: readonly Column[] = [
  { name: "GPU", text: (r) => r.name, key: (r) => r.name.toLowerCase() },
  { name: "faster", text: (r) => (r.fits === false ? "does not fit" : VERDICTS[r.verdict]), key: (r) => (r.fits === false ? "z" : VERDICTS[r.verdict]) },
  { name: "speedup", text: (r) => word("speedup", r.speedup), key: (r) => r.speedup?.p50 ?? null, falling: true },
  { name: "time", text: (r) => word("time", r.time_s), key: (r) => r.time_s?.p50 ?? null },
  { name: "cost", text: (r) => word("cost", r.cost_usd), key: (r) => r.cost_usd?.p50 ?? null },
  { name: "energy", text: (r) => word("energy", r.energy_wh), key: (r) => r.energy_wh?.p50 ?? null },
  { name: "held back by", text: (r) => r.bound_by ?? "start-up", key: (r) => r.bound_by ?? "start-up" },
  { name: "memory", text: (r) => word("memory", r.memory_bytes), key: (r) => r.memory_bytes, falling: true },
  { name: "price", text: (r) => word("usd_per_h", r.price?.usd_per_h), key: (r) => r.price?.usd_per_h ?? null },
  { name: "provider", text: (r) => r.price?.provider ?? "", key: (r) => r.price?.provider.toLowerCase() ?? null },
  { name: "price read", text: (r) => r.price?.date ?? "", key: (r) => r.price?.date || null, falling: true },
];
const SPEEDUP = 2;

export interface GpuTable {
  show: (rows: readonly GpuEstimate[]) => void;
  /** Whose prices are wanted; empty is anybody's. */
  provider: () => string;
  /** Sorting and filters, for the link. */
  view: () => View;
  /** Gives back what of it cannot be read, as the link has it. */
  restore: (view: View) => string[];
}

/** Makes the table; `changed` is called when it is sorted or filtered otherwise, with whether other prices are wanted. */
export function makeTable(body: HTMLElement, changed: (prices: boolean) => void): GpuTable {
  let shown: readonly GpuEstimate[] = [];
  let by = SPEEDUP;
  let rising = false;
  const cells: string[][] = [];

  const name = el("input", { type: "search", id: "filter-name", placeholder: "H100" });
  const provider = el("select", { id: "filter-provider" }, el("option", { value: "" }, "the cheapest"), ...providers().map((p) => el("option", { value: p }, p)));
  const price = el("input", { type: "number", id: "filter-price", min: "0", step: "any", placeholder: "any" });
  const memory = el("input", { type: "number", id: "filter-memory", min: "0", step: "any", placeholder: "any" });
  const heads = COLUMNS.map((column, i) => {
    const button = el("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      rising = by === i ? !rising : !column.falling;
      by = i;
      draw();
      changed(false);
    });
    return el("th", { scope: "col" }, button);
  });
  const rows = el("tbody");
  const count = el("p", { class: "known", role: "status" });
  const labelled = (text: string, control: HTMLElement) => el("div", { class: "field" }, el("label", { for: control.id }, text), control);
  body.append(
    el("div", { class: "grid filters" }, labelled("Name has", name), labelled("Prices of", provider), labelled("At most, USD/h", price), labelled("Memory from, GiB", memory)),
    count,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All GPUs" },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), rows)),
  );
  for (const control of [name, price, memory]) {
    control.addEventListener("input", () => {
      draw();
      changed(false);
    });
  }
  provider.addEventListener("input", () => changed(true));

  function wanted(row: GpuEstimate): boolean {
    const [most, least] = [price.valueAsNumber, memory.valueAsNumber];
    return row.name.toLowerCase().includes(name.value.trim().toLowerCase())
      && (provider.value === "" || row.price !== null)
      && (Number.isNaN(most) || (row.price !== null && row.price.usd_per_h <= most))
      && (Number.isNaN(least) || (row.memory_bytes !== null && row.memory_bytes >= least * GIB));
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
    while (rows.rows.length > list.length) {
      rows.deleteRow(-1);
      cells.pop();
    }
    list.forEach(({ row }, i) => {
      const line = rows.rows[i] ?? emptyRow(rows);
      const texts = COLUMNS.map((c) => c.text(row));
      const before = cells[i];
      texts.forEach((text, k) => {
        if (before?.[k] !== text) line.cells[k]!.textContent = text;
      });
      cells[i] = texts;
      if (before?.[0] !== texts[0]) line.cells[0]!.title = texts[0]!;
      line.dataset["verdict"] = row.verdict;
    });
  }

  return {
    show(estimates) {
      shown = estimates;
      draw();
    },
    provider: () => provider.value,
    view: () => ({
      sort: by === SPEEDUP && !rising ? "" : `${rising ? "" : "-"}${COLUMNS[by]!.name}`,
      name: name.value,
      from: provider.value,
      upto: price.value,
      room: memory.value,
    }),
    restore(view) {
      const sort = view["sort"] ?? "";
      const column = COLUMNS.findIndex((c) => c.name === sort.replace(/^-/, ""));
      [by, rising] = column < 0 ? [SPEEDUP, false] : [column, !sort.startsWith("-")];
      name.value = view["name"] ?? "";
      provider.value = view["from"] ?? "";
      if (provider.selectedIndex < 0) provider.value = "";
      price.value = view["upto"] ?? "";
      memory.value = view["room"] ?? "";
      const lost = (key: string, kept: string) => (view[key] && kept === "" ? [`${key}=${view[key]}`] : []);
      return [
        ...lost("sort", column < 0 ? "" : sort), ...lost("from", provider.value), ...lost("upto", price.value), ...lost("room", memory.value),
      ];
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
