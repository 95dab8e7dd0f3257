// The page: at each keystroke the state goes to the engine and the answer to the screen.

import { breakEven, roofline } from "./curves";
import { byId, el, say } from "./dom";
import { takeFiles } from "./drop";
import { answer, cpus, markdown, start, type Answer } from "./engine";
import { makeFigure, type Figure } from "./figure";
import { makeFold, openForPrint } from "./fold";
import { build, echo, fill, read, refuse, remark, suggest, tell, tellCleared } from "./form";
import { labelled } from "./labels";
import { changes, showFootprint, showMethod } from "./method";
import { timeParts } from "./parts";
import { PRESETS } from "./presets";
import { makeResult, showNothing, showResult, subject } from "./result";
import type { Estimate, Footprint, Refusal } from "./schema";
import { makeShare } from "./share";
import { fromFragment, isBlank, toAll, toCommand, toFragment, toModel, toRequest, told, withoutCard, type State, type View } from "./state";
import { makeTable } from "./table";

const today = new Date().toISOString().slice(0, 10);
/** The last good answer, and what was asked. */
let good: { state: State; estimate: Estimate; json: string } | undefined;
let announce = 0;
let address = 0;
let billion: readonly Footprint[] = [];

await start().catch((error: unknown) => {
  say(byId("big"), "This browser cannot run the calculation");
  throw error;
});

const parts = makeFold("parts", "Where the time goes", "arithmetic, memory, copies, start-up", remember);
const turn = makeFold("turn", "What would help or turn it", "edits, size, price, other GPUs", remember);
const even = makeFold("even", "Where it breaks even", "problem size against time", remember);
const roof = makeFold("roof", "What the GPU could reach", "roofline: arithmetic or memory", remember);
const all = makeFold("all", "All GPUs", "compared, without what you said of one", remember);
const method = makeFold("method", "The method", "formula, every input, sources, prices with dates", remember);
const footprint = makeFold("footprint", "Memory by precision", "of so many values", remember);
const folds = [parts, turn, even, roof, all, method, footprint];
const [partsFigure, evenFigure, roofFigure] = [makeFigure(parts.body, true), makeFigure(even.body), makeFigure(roof.body)];
const gpus = makeTable(all.body, (prices) => (prices ? update(read()) : remember()));
openForPrint(() => {
  const given = document.querySelector("#expert .given") ? [byId<HTMLDetailsElement>("expert")] : [];
  return [...given, ...[parts, turn, even, roof, method].map((fold) => fold.details)];
});

/** Answers what the form says; `typed` is the field where that changed, if it was one. */
function update(state: State, typed = ""): void {
  remember();
  if (typed !== "gpu") tellCleared();
  if (isBlank(state)) good = undefined;
  let asked = state;
  let one = answer(toRequest(asked, today));
  const refused: Refusal[] = [];
  // Without a last good answer, what cannot be read is left out of the first.
  while ("refusal" in one && !good && one.refusal.field && asked[one.refusal.field] !== undefined) {
    refused.push(one.refusal);
    const { [one.refusal.field]: _, ...rest } = asked;
    asked = rest;
    one = answer(toRequest(asked, today));
  }
  if ("refusal" in one) {
    turnDown(state, one.refusal, refused);
  } else if (typed === "gpu" && good?.state["gpu"] && of(one.estimate) !== of(good.estimate) && withoutCard(state).labels.length > 0) {
    clearCard(state, good.state["gpu"]);
  } else {
    show(asked, one);
    stale(refused.length > 0 ? "This is the answer without what cannot be read." : "", false);
    refuse(refused);
  }
}

/** Says why there is no answer: the last good one stays, greyed, with what it is of; where there is none, nothing does. */
function turnDown(state: State, refusal: Refusal, before: readonly Refusal[]): void {
  const all = before.some((other) => other.field === refusal.field) ? before : [...before, refusal];
  if (good) {
    stale(`${told(good.state, state)}; ${labelled(refusal.message)}`, true);
    refuse(all);
  } else {
    stale("", false);
    // Nothing is wrong with fields that are empty.
    const empty = refusal.code === "no-work" && before.length === 0;
    showNothing(empty ? labelled(`To begin, ${refusal.hint ?? refusal.message}.`) : "");
    for (const fold of folds) fold.show(undefined);
    refuse(empty ? [] : all);
  }
  speak(labelled(refusal.message));
}

/** The GPUs that an answer is about. */
function of(estimate: Estimate): string {
  return estimate.estimates.map((row) => row.gpu).join();
}

/** Figures that were given for the GPU named before say nothing of another: they go, and can be had back. */
function clearCard(state: State, before: string): void {
  const { rest, labels } = withoutCard(state);
  fill(rest);
  update(read(), "gpu");
  tellCleared(`Cleared: ${labels.join(", ")} (given for ${before}).`, () => {
    fill({ ...state, ...read() });
    update(read());
  });
}

function show(state: State, { estimate, json }: Exclude<Answer, { refusal: Refusal }>): void {
  good = { state, estimate, json };
  const gpu = subject(estimate);
  const model = gpu && estimate.formula && toModel(state, today, gpu.gpu);
  const alone = model && answer(model);
  const same = alone && "estimate" in alone ? alone.estimate.estimates[0] : undefined;
  const ours = same?.time_s && same.time_s.p50 !== gpu?.time_s?.p50 ? same : undefined;
  echo(estimate.formula?.inputs ?? []);
  const unpriced = estimate.notes.find((note) => note.code === "no-price");
  if (unpriced && state["provider"]) remark("provider", labelled(unpriced.text));
  if (gpu && !gpu.price) remark("price", "no price is known: cost is not either");
  showResult(estimate, ours);
  const [curve, under] = [breakEven(estimate, gpu), roofline(estimate, gpu)];
  parts.show(gpu && (() => put(partsFigure, timeParts(gpu, ours))));
  const turning = changes(estimate);
  turn.show(turning.length > 0 ? () => turn.body.replaceChildren(el("ul", {}, ...turning.map((text) => el("li", {}, labelled(text))))) : undefined);
  even.show(curve === undefined ? undefined : () => put(evenFigure, curve));
  roof.show(under === undefined ? undefined : () => put(roofFigure, under));
  all.show(gpu && (() => {
    const every = answer(toAll(state, today, gpus.provider()));
    gpus.show("estimate" in every ? every.estimate.estimates : []);
  }));
  method.show(() => showMethod(method.body, estimate, gpu, ours));
  footprint.show(() => showFootprint(footprint.body, state["values"] ?? "1e9", estimate.footprint ?? billion));
  speak(estimate.summary.sentence);
}

function put(place: ReturnType<typeof makeFigure>, figure: Figure | string): void {
  if (typeof figure === "string") place.clear(figure);
  else place.show(figure);
}

/** A line above the answer; `grey` where it is of another question than the fields'. */
function stale(text: string, grey: boolean): void {
  say(byId("stale"), text);
  byId("stale").hidden = text === "";
  document.querySelector("main")!.classList.toggle("stale", grey);
}

/** Says the answer to a screen reader once the typing pauses. */
function speak(text: string): void {
  clearTimeout(announce);
  announce = setTimeout(() => say(byId("live"), text), 800);
}

/** Everything that can be folded away, the long form included. */
function folding(): { id: string; details: HTMLDetailsElement }[] {
  return [...folds, { id: "expert", details: byId<HTMLDetailsElement>("expert") }];
}

function view(): View {
  return { open: folding().filter((f) => f.details.open).map((f) => f.id).join("."), ...gpus.view() };
}

/** Keeps the address up to date; browsers allow that only so often. */
function remember(): void {
  clearTimeout(address);
  address = setTimeout(() => history.replaceState(null, "", `#${toFragment(read(), view())}`), 200);
}

/** Opens what the address says: what is typed, and what is looked at. */
function open(): void {
  const { state, view, unknown } = fromFragment(location.hash);
  fill(Object.keys(state).length > 0 ? state : PRESETS[0]!.state);
  unknown.push(...gpus.restore(view));
  const opened = (view["open"] ?? "").split(".").filter((id) => id !== "");
  const gone = opened.filter((id) => folding().every((f) => f.id !== id));
  if (gone.length > 0) unknown.push(`open=${gone.join(".")}`);
  for (const f of folding()) f.details.open = opened.includes(f.id);
  update(read());
  if (unknown.length > 0) tell(`This link has something that this page does not know, and leaves out: ${unknown.join(", ").slice(0, 120)}`);
}

build(update);
byId("share").append(...makeShare([
  ["link", () => `${location.href.split("#")[0]}#${toFragment(read(), view())}`],
  ["command", () => toCommand(good?.state ?? read())],
  ["JSON", () => good?.json ?? ""],
  ["Markdown", () => markdown(toRequest(good?.state ?? read(), today))],
]), makeResult());
// Any work will do to learn the names of the GPUs and the memory of a billion values.
const every = answer({ today, numbers: { flops: 1, values: 1e9 }, options: {} });
if ("estimate" in every) {
  suggest("cpus", cpus());
  suggest("gpus", every.estimate.estimates.map((row) => row.name));
  billion = every.estimate.footprint ?? [];
}
byId("expert").addEventListener("toggle", remember);
addEventListener("hashchange", open);
takeFiles();
open();
