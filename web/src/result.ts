// The answer above the fold: the big number, two bars, money and energy; and what is said of it below.

import { bars } from "./bars";
import { byId, el, say } from "./dom";
import { UNKNOWN, word } from "./engine";
import { makeDrawing, plainTable } from "./figure";
import { labelled } from "./labels";
import { priced } from "./method";
import type { Baseline, Estimate, GpuEstimate, Interval, Verdict } from "./schema";

/** The GPU that the answer speaks of. */
export function subject(estimate: Estimate): GpuEstimate | undefined {
  const rows = estimate.estimates;
  return rows.find((row) => row.gpu === estimate.summary.shown_gpu);
}

const drawing = makeDrawing("Save the bars as");
const table = el("div", { class: "unseen" });

/** Puts the bars where they belong; gives back what saves them. */
export function makeResult(): HTMLElement {
  byId("bars").append(drawing.place, table);
  return drawing.files;
}

/** Shows everything that changes with a keystroke except what is folded away. */
export function showResult(estimate: Estimate, ours: GpuEstimate | undefined): void {
  const gpu = subject(estimate);
  say(byId("big"), headline(gpu));
  byId("verdict").dataset["verdict"] = gpu?.verdict ?? "unknown";
  say(byId("against"), gpu ? `on ${gpu.name}` : "");
  say(byId("sentence"), labelled(estimate.summary.sentence));
  showBars(estimate.baseline, gpu);
  tiles(estimate.baseline, gpu);
  say(byId("ours"), ours && estimate.formula ? beside(ours, estimate.formula.differs_because) : "");
  byId("notes").replaceChildren(...estimate.notes.map((note) => el("li", {}, labelled(note.text))));
}

function headline(gpu: GpuEstimate | undefined): string {
  const plain: Record<Verdict, string> = { gpu: "GPU is faster", cpu: "CPU is faster", either: "About the same", unknown: "Not enough is known" };
  if (!gpu) return plain.unknown;
  if (gpu.fits === false) return "It does not fit";
  if (gpu.verdict === "gpu" && gpu.speedup) return `${word("times", gpu.speedup.p50)} faster`;
  if (!gpu.speedup && gpu.time_s) return word("time", gpu.time_s);
  return plain[gpu.verdict];
}

/** The answer without what was given about the GPU, in a line. */
function beside(ours: GpuEstimate, why: string | null): string {
  const speedup = ours.speedup ? `, ${word("speedup", ours.speedup)}` : "";
  return `With the catalogue and our model alone: ${word("time", ours.time_s)}${speedup}.${why ? ` Most of the difference: ${labelled(why)}.` : ""}`;
}

function showBars(cpu: Baseline, gpu: GpuEstimate | undefined): void {
  const side = (name: string, color: string, time: Interval | null) =>
    ({ name, color, text: word("time", time), ...(time && { value: time.p50, low: time.p10, high: time.p90 }) });
  const both = [side("CPU", "cpu", cpu.time_s), side("GPU", "gpu", gpu?.time_s ?? null)];
  const data = { caption: "Time, lower is better", head: ["device", "time"], rows: both.map((b) => [b.name, b.text]) };
  table.replaceChildren(plainTable(data));
  drawing.show({ name: "cpu-against-gpu", says: `Time, lower is better: ${both.map((b) => `${b.name} ${b.text}`).join(", ")}.`, draw: (width) => bars(both, width, "Time, lower is better"), data });
}

function tiles(cpu: Baseline, gpu: GpuEstimate | undefined): void {
  const tile = (name: string, known: string, ...what: (Node | string)[]) =>
    el("div", {}, el("dt", {}, name, " ", el("span", { class: "known" }, known)), el("dd", {}, ...what));
  const bill = (name: string, known: string, as: string, key: "cost_usd" | "energy_wh" | "co2_g") =>
    tile(name, known, el("b", {}, word(as, gpu?.[key])), " ", el("span", { class: "cpu-side" }, `CPU ${word(as, cpu[key])}`));
  byId("bill").replaceChildren(
    bill("Cost", "of a run", "cost", "cost_usd"),
    bill("Energy", "electricity", "energy", "energy_wh"),
  );
  byId("tiles").replaceChildren(
    bill("Carbon", "CO₂e", "carbon", "co2_g"),
    tile("Speedup", "acceleration", el("b", {}, word("speedup", gpu?.speedup))),
    tile("Break-even", "where the GPU starts to win", el("b", {}, gpu?.break_even?.describes ?? UNKNOWN)),
    tile("Fits in memory", "of the GPU", ...fits(gpu)),
    tile("Effective rate", "throughput", el("b", {}, word("flop_per_s", gpu?.effective_flop_per_s))),
    tile("Price", "cloud cost", priced(gpu?.price ?? null)),
    tile("Compared with", "the CPU", `${cpu.device}, time ${cpu.basis}`),
    tile("Basis", "of the GPU's time", gpu?.basis ?? UNKNOWN),
  );
}

function fits(gpu: GpuEstimate | undefined): (Node | string)[] {
  if (gpu?.fits === null || gpu?.fits === undefined) return [`${UNKNOWN}: give “Values in memory”`];
  return [el("b", {}, gpu.fits ? "yes" : "no"), `, ${word("memory", gpu.peak_bytes)} of ${word("memory", gpu.memory_bytes)}`];
}
