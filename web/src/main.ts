// The page: at each keystroke the state goes to the engine and the answer to the screen.

import { byId, el, say } from "./dom";
import { answer, markdown, start } from "./engine";
import { build, echo, fill, read, refuse, suggest } from "./form";
import { showFootprint, showFormula } from "./formula";
import { PRESETS } from "./presets";
import { showParts, showResult, subject } from "./result";
import type { Footprint } from "./schema";
import { makeShare } from "./share";
import { fromFragment, toCommand, toFragment, toRequest, type State } from "./state";
import { makeTable } from "./table";

const today = new Date().toISOString().slice(0, 10);
let lastJson = "";
let announce = 0;
let billion: readonly Footprint[] = [];

interface Fold { body: HTMLElement; show: (draw: () => void) => void }

/** Something that is drawn only while it is open. */
function fold(id: string, title: string): Fold {
  const body = el("div", { class: "body" });
  const details = el("details", { id }, el("summary", {}, title), body);
  let latest = () => {};
  details.addEventListener("toggle", () => details.open && latest());
  byId("more").append(details);
  return {
    body,
    show(draw) {
      latest = draw;
      if (details.open) draw();
    },
  };
}

const parts = fold("parts", "Where the time goes");
const all = fold("all", "All GPUs, without what you said of one");
const gpus = makeTable(all.body);
const formula = fold("formula", "The formula, and every input");
const footprint = fold("footprint", "Memory by precision");

function update(state: State): void {
  history.replaceState(null, "", `#${toFragment(state)}`);
  const one = answer(toRequest(state, today));
  byId("stale").hidden = !("refusal" in one) || lastJson === "";
  if ("refusal" in one) {
    refuse(one.refusal);
    if (lastJson === "") say(byId("big"), "No answer yet");
    speak(one.refusal.message);
    return;
  }
  const { estimate, json } = one;
  lastJson = json;
  const gpu = subject(estimate);
  echo(estimate.formula?.inputs ?? []);
  showResult(estimate);
  const every = answer(toRequest(state, today, true));
  const rows = "estimate" in every ? every.estimate.estimates : [];
  parts.show(() => showParts(parts.body, gpu));
  all.show(() => gpus.show(rows));
  formula.show(() => showFormula(formula.body, estimate, rows.find((row) => row.gpu === gpu?.gpu)));
  footprint.show(() => showFootprint(footprint.body, state["values"] ?? "1e9", estimate.footprint ?? billion));
  speak(estimate.summary.sentence);
}

/** Says the answer to a screen reader once the typing pauses. */
function speak(text: string): void {
  clearTimeout(announce);
  announce = setTimeout(() => say(byId("live"), text), 800);
}

function open(): void {
  const { state } = fromFragment(location.hash);
  fill(Object.keys(state).length > 0 ? state : PRESETS[0]!.state);
  update(read());
}

build(update);
makeShare([
  ["link", () => location.href],
  ["command", () => toCommand(read())],
  ["JSON", () => lastJson],
  ["Markdown", () => markdown(toRequest(read(), today))],
]);
await start();
// Any work will do to learn the names of the GPUs and the memory of a billion values.
const every = answer({ today, numbers: { flops: 1, values: 1e9 }, options: {} });
if ("estimate" in every) {
  suggest(every.estimate.estimates.map((row) => row.name));
  billion = every.estimate.footprint ?? [];
}
addEventListener("hashchange", open);
open();
