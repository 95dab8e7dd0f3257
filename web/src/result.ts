// The answer above the fold: the big number, two bars, money and energy.

import { byId, el, say } from "./dom";
import { UNKNOWN, word } from "./engine";
import type { Baseline, Breakdown, Estimate, GpuEstimate, Interval, Verdict } from "./schema";

/** The GPU that the answer is about: the one named, or the best of those asked about. */
export function subject(estimate: Estimate): GpuEstimate | undefined {
  const rows = estimate.estimates;
  return rows.find((row) => row.gpu === estimate.summary.best_gpu) ?? rows[0];
}

/** Shows everything that changes with a keystroke except the tables. */
export function showResult(estimate: Estimate): void {
  const gpu = subject(estimate);
  say(byId("big"), headline(gpu));
  byId("verdict").dataset["verdict"] = gpu?.verdict ?? "unknown";
  say(byId("against"), gpu ? `on ${gpu.name}` : "");
  say(byId("sentence"), estimate.summary.sentence);
  bars(estimate.baseline, gpu);
  tiles(estimate.baseline, gpu);
  byId("notes").replaceChildren(...estimate.notes.map((note) => el("li", {}, note.text)));
}

function headline(gpu: GpuEstimate | undefined): string {
  const plain: Record<Verdict, string> = { gpu: "GPU is faster", cpu: "CPU is faster", either: "About the same", unknown: "Not enough is known" };
  if (!gpu) return plain.unknown;
  if (gpu.fits === false) return "It does not fit";
  if (gpu.verdict === "gpu" && gpu.speedup) return `${word("times", gpu.speedup.p50)} faster`;
  if (!gpu.speedup && gpu.time_s) return word("time", gpu.time_s);
  return plain[gpu.verdict];
}

function bars(cpu: Baseline, gpu: GpuEstimate | undefined): void {
  const longest = Math.max(cpu.time_s?.p50 ?? 0, gpu?.time_s?.p90 ?? 0);
  byId("bars").replaceChildren(
    bar("CPU", "cpu", cpu.time_s, longest),
    bar("GPU", "gpu", gpu?.time_s ?? null, longest),
    el("p", { class: "known" }, "Time, lower is better"),
  );
}

function bar(name: string, kind: string, time: Interval | null, longest: number): HTMLElement {
  const track = el("span", { class: "track", "aria-hidden": "true" });
  if (time && longest > 0) {
    const fill = el("span", { class: `fill ${kind}` });
    fill.style.width = percent(time.p50, longest);
    track.append(fill);
    if (time.p90 > time.p10) {
      const spread = el("span", { class: "spread" });
      spread.style.left = percent(time.p10, longest);
      spread.style.width = percent(time.p90 - time.p10, longest);
      track.append(spread);
    }
  }
  return el("div", { class: "bar" }, el("span", { class: "who" }, name), track, el("span", { class: "value" }, word("time", time)));
}

const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;

function tiles(cpu: Baseline, gpu: GpuEstimate | undefined): void {
  const tile = (name: string, known: string, as: string, key: "cost_usd" | "energy_wh" | "co2_g") =>
    el("div", {},
      el("dt", {}, name, " ", el("span", { class: "known" }, known)),
      el("dd", {}, el("b", {}, word(as, gpu?.[key])), ` · CPU ${word(as, cpu[key])}`));
  byId("bill").replaceChildren(
    tile("Cost", "of a run", "cost", "cost_usd"),
    tile("Energy", "electricity", "energy", "energy_wh"),
  );
  byId("tiles").replaceChildren(
    tile("Carbon", "CO₂e", "carbon", "co2_g"),
    el("div", {},
      el("dt", {}, "Speedup ", el("span", { class: "known" }, "acceleration")),
      el("dd", {}, el("b", {}, word("speedup", gpu?.speedup)))),
    el("div", {},
      el("dt", {}, "Break-even ", el("span", { class: "known" }, "where the GPU starts to win")),
      el("dd", {}, gpu?.break_even?.describes ?? UNKNOWN)),
    el("div", {},
      el("dt", {}, "Fits in memory"),
      el("dd", {}, fits(gpu))),
  );
}

function fits(gpu: GpuEstimate | undefined): string {
  if (gpu?.fits === null || gpu?.fits === undefined) return `${UNKNOWN}: give the values in memory`;
  return `${gpu.fits ? "yes" : "no"}, ${word("memory", gpu.peak_bytes)} needed`;
}

export const PARTS: readonly (readonly [keyof Breakdown, string])[] = [
  ["compute", "arithmetic"],
  ["memory", "device memory"],
  ["transfer", "copies"],
  ["launch", "kernel launches"],
  ["sync", "waiting"],
  ["host", "CPU and Python"],
  ["startup", "start-up"],
];

/** Where the time of one GPU goes: a stacked bar and its table. */
export function showParts(body: HTMLElement, gpu: GpuEstimate | undefined): void {
  const parts = gpu?.breakdown_s;
  if (!parts || !gpu?.time_s) {
    body.replaceChildren(el("p", {}, "Not known."));
    return;
  }
  const total = PARTS.reduce((sum, [key]) => sum + parts[key], 0);
  const used = PARTS.filter(([key]) => parts[key] > 0);
  const stack = el("div", { class: "stack", "aria-hidden": "true" });
  for (const [key] of used) {
    const piece = el("span", { class: `part ${key}` });
    piece.style.width = percent(parts[key], total);
    stack.append(piece);
  }
  const rows = used.map(([key, name]) =>
    el("tr", {},
      el("th", { scope: "row" }, el("span", { class: `key ${key}`, "aria-hidden": "true" }), name),
      el("td", {}, word("seconds", parts[key])),
      el("td", {}, word("percent", parts[key] / total))));
  body.replaceChildren(
    stack,
    el("table", { class: "small" },
      el("caption", {}, `Time on ${gpu.name}, ${word("time", gpu.time_s)} in all`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col" }, "time"), el("th", { scope: "col" }, "share"))),
      el("tbody", {}, ...rows)));
}
