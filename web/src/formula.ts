// The formula with every input echoed, and the memory of N values.

import { el } from "./dom";
import { formula as lines, word } from "./engine";
import type { Estimate, Footprint, Formula, GpuEstimate } from "./schema";

/**
 * The method: formula, inputs with their basis, and the answer without what was given about the GPU (`ours`), with
 * the reason for the difference.
 */
export function showFormula(body: HTMLElement, estimate: Estimate, ours: GpuEstimate | undefined): void {
  const formula = estimate.formula;
  body.replaceChildren(
    el("ol", { class: "formula" }, ...lines().map((line) => el("li", {}, line))),
    ...(formula ? [compared(formula, ours), echoed(formula)] : []));
}

function compared(formula: Formula, ours: GpuEstimate | undefined): HTMLElement {
  const parts = [`With your numbers: ${word("time", formula.time_s)}`];
  if (formula.speedup) parts.push(`, ${word("speedup", formula.speedup)}`);
  if (ours?.time_s) parts.push(`. With the catalogue and the model of ${ours.name} alone: ${word("time", ours.time_s)}`);
  if (ours?.speedup) parts.push(`, ${word("speedup", ours.speedup)}`);
  parts.push(".");
  if (formula.differs_because) parts.push(` Most of the difference: ${formula.differs_because}.`);
  return el("p", {}, parts.join(""));
}

function echoed(formula: Formula): HTMLElement {
  return table("Every input as used", ["input", "value", "basis", "typical"],
    formula.inputs.map((input) => [input.name.replaceAll("_", " "), input.text, input.basis, input.typical ?? ""]));
}

/** Memory that so many values take, by precision and what each is for. */
export function showFootprint(body: HTMLElement, values: string, rows: readonly Footprint[]): void {
  body.replaceChildren(table(`Memory of ${values} values`, ["precision", "memory", "for"],
    rows.map((row) => [row.precision, row.text, row.role])));
}

function table(caption: string, head: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  return el("table", { class: "small" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.map(([first, ...rest]) =>
      el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...rest.map((text) => el("td", {}, text))))));
}
