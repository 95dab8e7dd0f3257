// The method: the formula with every input, the answer without what was given about the GPU, and where figures are from.

import { byId, el } from "./dom";
import { datasheet, document as cited, formula as lines, word } from "./engine";
import { dataTable } from "./figure";
import { labelOf, labelled } from "./labels";
import type { Estimate, Footprint, Formula, GpuEstimate, Price } from "./schema";

const READ_MORE = [
  "the roofline: Williams, Waterman & Patterson, “Roofline: an insightful visual performance model”, CACM 52 (2009)",
  "the parallel fraction: Amdahl, “Validity of the single processor approach”, AFIPS (1967)",
  "FLOP of training, 6 for each parameter and token: Kaplan et al., “Scaling laws for neural language models” (2020), § 2.1",
  "what training keeps of the peak: Chowdhery et al., “PaLM” (2022), table 3",
];

/** How sizes are answered, for which there is no formula. */
const MODEL = [
  "The work is written as the program that it means, operation by operation; the first note below the answer shows it.",
  "Each operation's time follows from its shapes, its precision and the device's figures: the larger of arithmetic and memory traffic, at the rates that such kernels reach.",
  "The host launches, the GPU computes and copies beside each other; the program is done when the last of them is. Start-up comes on top.",
  "The CPU runs the same operations by a model of its own, unless its time or rate is given.",
];

/** `ours` is the answer without what was given about the GPU. */
export function showMethod(body: HTMLElement, estimate: Estimate, gpu: GpuEstimate | undefined, ours: GpuEstimate | undefined): void {
  const { formula } = estimate;
  const open = byId("method").querySelector<HTMLDetailsElement>("#sources")?.open ?? false;
  body.replaceChildren(
    el("ol", { class: "formula" }, ...(formula ? lines() : MODEL).map((line) => el("li", {}, line))),
    ...(formula && gpu ? [compared(formula, gpu, ours)] : []),
    ...(formula ? [echoed(formula)] : []),
    el("h3", {}, "Prices"),
    el("ul", {}, el("li", {}, `GPU: ${priced(gpu?.price ?? null)}`), el("li", {}, `CPU: ${priced(estimate.baseline.price)}`)),
    ...(gpu ? [sources(gpu, open)] : []),
    el("h3", {}, "To read on"),
    el("ul", {}, ...READ_MORE.map((text) => el("li", {}, text))),
  );
}

/** A price with who asks it and when it was read. */
export function priced(price: Price | null): string {
  if (!price) return "not known";
  const who = [price.provider, price.instance].filter((text) => text && text !== "given").join(", ");
  return [word("usd_per_h", price.usd_per_h), price.provider === "given" ? "as given" : who, price.date && `read ${price.date}`].filter(Boolean).join(" · ");
}

function compared(formula: Formula, gpu: GpuEstimate, ours: GpuEstimate | undefined): HTMLElement {
  const row = (name: string, as: string, key: "time_s" | "speedup" | "cost_usd" | "energy_wh") =>
    [name, word(as, formula[key]), ...(ours ? [word(as, ours[key])] : [])];
  const table = dataTable({
    caption: ours ? "The formula with your numbers, and with those of the catalogue and the model alone" : "The formula with your numbers",
    head: [gpu.name, "your numbers", ...(ours ? ["our model alone"] : [])],
    rows: [row("time", "time", "time_s"), row("speedup", "speedup", "speedup"), row("cost", "cost", "cost_usd"), row("energy", "energy", "energy_wh")],
  });
  return el("div", {}, table, ...(formula.differs_because ? [el("p", {}, `Most of the difference: ${labelled(formula.differs_because)}.`)] : []));
}

function echoed(formula: Formula): HTMLElement {
  return dataTable({
    caption: "Every input as used",
    head: ["input", "value", "basis", "typical"],
    rows: formula.inputs.map((input) => [labelOf(input.name), input.text, input.basis, input.typical ?? ""]),
  });
}

/** Every figure of the GPU with the document it was read from; made when it is opened. */
function sources(gpu: GpuEstimate, open: boolean): HTMLElement {
  const inside = el("div");
  const details = el("details", { class: "data", id: "sources", open }, el("summary", {}, `The figures of ${gpu.name} and their sources`), inside);
  const fill = () => {
    if (!details.open || inside.hasChildNodes()) return;
    const figures = datasheet(gpu.gpu).filter((f) => f.source !== "breakeven");
    if (figures.length === 0) {
      inside.append(el("p", {}, "This GPU is described by what you typed."));
      return;
    }
    const documents = new Map(figures.map((f) => [f.source, cited(f.source)]));
    const named = (id: string) => documents.get(id)?.title ?? id;
    inside.append(
      dataTable({
        caption: `${gpu.name} in the catalogue`,
        head: ["figure", "value", "source", "read", "how well known"],
        rows: figures.map((f) => [f.figure.replaceAll("_", " "), `${f.value}${["text", "flag", "year", "count"].includes(f.unit) ? "" : ` ${f.unit}`}`, named(f.source), f.read, f.confidence.replaceAll("_", " ")]),
      }),
      el("ul", {}, ...[...documents.values()].map(({ title, url }) =>
        el("li", {}, /^https:/.test(url) ? el("a", { href: url, rel: "noreferrer" }, title) : title))),
    );
  };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

/** What would help on the GPU, what would turn the answer, and what does not; nothing where neither is known. */
export function changes({ advice, robustness }: Estimate): string[] {
  const help = advice.filter((a) => a.side === "gpu").map((a) => `would help: ${a.title} → ${word("speedup", a.speedup_after)}; ${a.why}`);
  return [...help, ...robustness.map((flip) => flip.text)];
}

/** Memory that so many values take, by precision and what each is for. */
export function showFootprint(body: HTMLElement, values: string, rows: readonly Footprint[]): void {
  body.replaceChildren(dataTable({
    caption: `Memory of ${values} values; “Values in memory” says how many`,
    head: ["precision", "memory", "for"],
    rows: rows.map((row) => [row.precision, row.text, row.role]),
  }));
}
