// The formula with every input echoed, and the memory of N values.

import { el } from "./dom";
import { word } from "./engine";
import type { Estimate, Formula, GpuEstimate } from "./schema";

const LINES = [
  "effective rate = peak × utilisation × (1 − Python overhead) × workload factor × precision factor",
  "GPU time = max(FLOP ÷ effective rate, bytes ÷ (bandwidth × 0.85)) + data ÷ link + initialisation",
  "CPU time = FLOP ÷ CPU rate",
  "With a parallel fraction p < 1 the first term becomes (1 − p) × CPU time + p × that term.",
  "Cost = hours × price of the rental unit. Energy = watts × time × GPUs.",
];

/** The method: formula, inputs with their basis, and how far the model's answer is from the formula's. */
export function showFormula(body: HTMLElement, estimate: Estimate, gpu: GpuEstimate | undefined): void {
  const formula = estimate.formula;
  body.replaceChildren(
    el("ol", { class: "formula" }, ...LINES.map((line) => el("li", {}, line))),
    ...(formula ? [compared(formula, gpu), echoed(formula)] : []));
}

function compared(formula: Formula, gpu: GpuEstimate | undefined): HTMLElement {
  const parts = [`The formula says ${word("time", formula.time_s)}`];
  if (formula.speedup) parts.push(`, ${word("speedup", formula.speedup)}`);
  if (gpu?.time_s) parts.push(`; the model of ${gpu.name} says ${word("time", gpu.time_s)}`);
  if (gpu?.speedup) parts.push(`, ${word("speedup", gpu.speedup)}`);
  parts.push(".");
  if (formula.differs_because) parts.push(` ${formula.differs_because}`);
  return el("p", {}, parts.join(""));
}

function echoed(formula: Formula): HTMLElement {
  const head = ["input", "value", "basis", "typical"].map((name) => el("th", { scope: "col" }, name));
  const rows = formula.inputs.map((input) =>
    el("tr", {},
      el("th", { scope: "row" }, input.name.replaceAll("_", " ")),
      el("td", {}, input.text),
      el("td", {}, input.basis),
      el("td", {}, input.typical ?? "")));
  return el("table", { class: "small" }, el("caption", {}, "Every input as used"), el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

