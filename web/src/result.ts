// The answer above the fold: the big number, two bars, money and energy; and what is said of it below.

import { bars } from "./bars";
import { byId, coded, el, say } from "./dom";
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

/** Reasons of the whole program that are shown. */
const REASONS = 4;

/** Shows everything that changes with a keystroke except what is folded away. */
export function showResult(estimate: Estimate, ours: GpuEstimate | undefined): void {
  const gpu = subject(estimate);
  // Without a GPU the engine's sentence is the answer: its first half is the headline.
  const [limit = "", why = ""] = gpu ? [] : estimate.summary.sentence.split(/: (.*)/);
  say(byId("big"), gpu ? headline(gpu) : limit);
  byId("verdict").dataset["verdict"] = gpu?.verdict ?? "unknown";
  say(byId("against"), gpu ? `on ${gpu.name}${among(estimate, gpu)}` : "");
  say(byId("sentence"), labelled(why));
  showReasons(estimate);
  showBars(estimate.baseline, gpu);
  tiles(estimate.baseline, gpu);
  const model = estimate.notes.find((note) => note.code === "model-says");
  const formula = ours && estimate.formula ? beside(ours, estimate.formula.differs_because) : "";
  say(byId("ours"), model ? labelled(sentence(model.text)) : formula);
  const started = estimate.reasons.some((reason) => reason.code === "start-up-bound");
  const said = ["amdahl-limit", "model-says", ...(started ? ["start-up"] : [])];
  const rest = estimate.notes.filter((note) => !said.includes(note.code));
  byId("notes").replaceChildren(...rest.map((note) => el("li", {}, ...coded(labelled(note.text)))));
}

/** Nothing is asked yet: no answer of another question stays. */
export function showNothing(says: string): void {
  say(byId("big"), "No answer yet");
  byId("verdict").dataset["verdict"] = "unknown";
  say(byId("against"), "");
  say(byId("sentence"), says);
  say(byId("ours"), "");
  for (const id of ["why", "bill", "tiles", "notes"]) byId(id).replaceChildren();
  byId("bars").hidden = true;
}

/** Which of several GPUs this one is. */
function among({ estimates, summary }: Estimate, gpu: GpuEstimate): string {
  if (estimates.length < 2) return "";
  if (gpu.fits === false) return `, the largest of ${summary.of} GPUs`;
  if (gpu.verdict === "gpu") return `, the best value of the ${summary.wins_on} of ${summary.of} GPUs that win`;
  return `, the closest of ${summary.of} GPUs`;
}

/** Why the GPU takes its time, as the engine says of the whole program. */
function showReasons({ reasons }: Estimate): void {
  const whole = reasons.filter((reason) => reason.site === null).slice(0, REASONS);
  byId("why").replaceChildren(...whole.map((reason, i) => el("li", {},
    el("b", {}, `${reason.share === null ? "" : `${word("share", reason.share)} `}${reason.code}`),
    `: ${reason.cause}${i === 0 ? ` ${reason.remedy}` : ""}`)));
}

function sentence(text: string): string {
  return `${text.replace(/^[a-z]/, (letter) => letter.toUpperCase())}.`;
}

function headline(gpu: GpuEstimate): string {
  const plain: Record<Verdict, string> = { gpu: "GPU is faster", cpu: "CPU is faster", either: "About the same", unknown: "Not enough is known" };
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
  const both = [side("CPU", "cpu", cpu.time_s), ...(gpu ? [side("GPU", "gpu", gpu.time_s)] : [])];
  byId("bars").hidden = false;
  const data = { caption: "Time, lower is better", head: ["device", "time"], rows: both.map((b) => [b.name, b.text]) };
  table.replaceChildren(plainTable(data));
  drawing.show({ name: "cpu-against-gpu", says: `Time, lower is better: ${both.map((b) => `${b.name} ${b.text}`).join(", ")}.`, draw: (width) => bars(both, width, "Time, lower is better"), data });
}

function tiles(cpu: Baseline, gpu: GpuEstimate | undefined): void {
  const tile = (name: string, known: string, ...what: (Node | string)[]) =>
    el("div", {}, el("dt", {}, name, ...(known ? [" ", el("span", { class: "known" }, known)] : [])), el("dd", {}, ...what));
  const bill = (name: string, known: string, as: string, key: "cost_usd" | "energy_wh" | "co2_g") => {
    const side = gpu ? [el("b", {}, word(as, gpu[key])), " "] : [];
    return tile(name, known, ...side, el("span", { class: "cpu-side" }, `CPU ${word(as, cpu[key])}`));
  };
  byId("bill").replaceChildren(
    bill("Cost", "of a run", "cost", "cost_usd"),
    bill("Energy", "", "energy", "energy_wh"),
  );
  const ofGpu = (gpu: GpuEstimate) => [
    tile("Speedup", "p50 [p10–p90]", el("b", {}, word("speedup", gpu.speedup))),
    tile("Break-even", "where the GPU starts to win", el("b", {}, gpu.break_even?.describes ?? UNKNOWN)),
    tile("Fits in memory", "", ...fits(gpu)),
    tile("Effective rate", "", el("b", {}, word("flop_per_s", gpu.effective_flop_per_s))),
    tile("Price", "of the GPU", priced(gpu.price)),
    tile("Basis", "of the GPU's time", gpu.basis),
  ];
  byId("tiles").replaceChildren(
    bill("Carbon", "CO₂e", "carbon", "co2_g"),
    ...(gpu ? ofGpu(gpu) : []),
    tile("Compared with", "", `${cpu.device}, time ${cpu.basis}`),
  );
}

function fits(gpu: GpuEstimate): (Node | string)[] {
  if (gpu.fits === null) return [`${UNKNOWN}: give “Values in memory”`];
  return [el("b", {}, gpu.fits ? "yes" : "no"), `, ${word("memory", gpu.peak_bytes)} of ${word("memory", gpu.memory_bytes)}`];
}
