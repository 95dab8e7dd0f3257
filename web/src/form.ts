// The form: made from the list of fields, read back as a state, and marked with what the engine says of each field.

import { byId, el, say } from "./dom";
import { EXPERT, FIELDS, FORMS, QUICK, type Field } from "./fields";
import { labelled } from "./labels";
import { PRESETS } from "./presets";
import type { FormulaInput, Refusal } from "./schema";
import type { State } from "./state";

/** Marks of writing direction and their kin, which come along with what is pasted. */
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

type Control = HTMLInputElement | HTMLSelectElement;
const controls = new Map<string, Control>();

/** Builds the form; `changed` is called with the state at each keystroke. */
export function build(changed: (state: State) => void): void {
  const quick = el("div", { class: "grid" }, wrapped("preset", "Example", undefined, presets(changed), "wide"));
  for (const f of QUICK) {
    if (f.id === "flops") quick.append(wrapped("form", "Size given as", undefined, select(FORMS)));
    quick.append(field(f));
  }
  const expert = el("div", { class: "grid" });
  for (const f of EXPERT) expert.append(field(f));
  byId("inputs").append(
    quick,
    el("p", { id: "general", class: "error", hidden: true }),
    el("details", { id: "expert" }, el("summary", {}, "All inputs ", el("span", { id: "given" })), expert),
    el("datalist", { id: "gpus" }),
    el("datalist", { id: "cpus" }),
  );
  byId("inputs").addEventListener("submit", (event) => event.preventDefault());
  byId("inputs").addEventListener("input", (event) => {
    if (event.target === controls.get("preset")) return;
    controls.get("preset")!.value = "";
    choose();
    changed(read());
  });
}

/** What is typed now. */
export function read(): State {
  const state: State = { form: controls.get("form")!.value };
  for (const f of FIELDS) {
    const control = controls.get(f.id)!;
    const text = f.tick ? ((control as HTMLInputElement).checked ? "yes" : "") : control.value.replace(INVISIBLE, "");
    if (text !== "") state[f.id] = text;
  }
  return state;
}

/** Puts a state into the form. */
export function fill(state: State): void {
  controls.get("form")!.value = state["form"] ?? FORMS[0][0];
  for (const f of FIELDS) {
    const control = controls.get(f.id)!;
    if (f.tick) (control as HTMLInputElement).checked = state[f.id] === "yes";
    else control.value = state[f.id] ?? f.choices?.[0]?.[0] ?? "";
  }
  const preset = PRESETS.findIndex((p) => same(p.state, state));
  controls.get("preset")!.value = preset < 0 ? "" : String(preset);
  choose();
}

/** Beside each field its typical range, and in it what the engine takes when nothing is given. */
export function echo(inputs: readonly FormulaInput[]): void {
  const echoed = new Map(inputs.map((i) => [i.name, i]));
  for (const f of FIELDS) {
    const input = echoed.get(f.id);
    const control = controls.get(f.id)!;
    const typical = input?.typical ?? f.typical;
    note(f.id, typical ? `typical ${typical}` : "", false);
    if (control instanceof HTMLInputElement) control.placeholder = input && input.basis !== "given" ? input.text : (f.example ?? "");
  }
  tell("");
}

/** A remark beside a field, in place of its range: what is typed there is fine and leads to nothing. */
export function remark(id: string, text: string): void {
  say(byId(`note-${id}`), text);
}

/** A message that is about no field. */
export function tell(text: string): void {
  say(byId("general"), text);
  byId("general").hidden = text === "";
}

/** The engine's refusals, each beside the field it is about. */
export function refuse(refusals: readonly Refusal[]): void {
  for (const f of FIELDS) {
    if (controls.get(f.id)!.getAttribute("aria-invalid")) note(f.id, "", false);
  }
  for (const refusal of refusals) {
    const text = labelled(refusal.hint ? `${refusal.message}. ${refusal.hint}` : refusal.message);
    const about = refusal.field ?? "";
    if (controls.has(about)) {
      note(about, text, true);
      if (EXPERT.some((f) => f.id === about)) byId<HTMLDetailsElement>("expert").open = true;
    } else {
      tell(text);
    }
  }
}

/** The names that a field suggests. */
export function suggest(list: "gpus" | "cpus", names: readonly string[]): void {
  byId(list).replaceChildren(...names.map((name) => el("option", { value: name })));
}

function note(id: string, text: string, wrong: boolean): void {
  const small = byId(`note-${id}`);
  say(small, text);
  small.classList.toggle("error", wrong);
  if (wrong) controls.get(id)!.setAttribute("aria-invalid", "true");
  else controls.get(id)!.removeAttribute("aria-invalid");
}

/** Shows the fields of the chosen form of size, and how many expert fields are given. */
function choose(): void {
  const form = controls.get("form")!.value;
  for (const f of QUICK) if (f.form) byId(`field-${f.id}`).hidden = f.form !== form;
  const state = read();
  for (const f of EXPERT) byId(`field-${f.id}`).classList.toggle("given", state[f.id] !== undefined);
  const given = EXPERT.filter((f) => state[f.id] !== undefined).length;
  say(byId("given"), given === 0 ? "" : `(${given} given)`);
}

function field(f: Field): HTMLElement {
  if (f.choices) return wrapped(f.id, f.label, f.known, select(f.choices));
  if (f.tick) return wrapped(f.id, f.label, f.known, el("input", { type: "checkbox" }), "tick");
  const input = el("input", { type: "text", spellcheck: "false", autocapitalize: "off", placeholder: f.example ?? "" });
  if (f.names) input.setAttribute("list", f.names);
  return wrapped(f.id, f.label, f.known, input);
}

function wrapped(id: string, label: string, known: string | undefined, control: Control, kind = ""): HTMLElement {
  control.id = `in-${id}`;
  control.setAttribute("aria-describedby", `note-${id}`);
  controls.set(id, control);
  const name = el("label", { for: control.id }, label);
  if (known) name.append(" ", el("span", { class: "known" }, known));
  return el("div", { class: `field ${kind}`, id: `field-${id}` }, name, control, el("small", { id: `note-${id}` }));
}

function select(choices: readonly (readonly [string, string])[]): HTMLSelectElement {
  return el("select", {}, ...choices.map(([value, text]) => el("option", { value }, text)));
}

function presets(changed: (state: State) => void): HTMLSelectElement {
  const box = select([["", "My own numbers"], ...PRESETS.map((p, i) => [String(i), p.name] as const)]);
  box.addEventListener("change", () => {
    const preset = PRESETS[Number(box.value)];
    if (box.value === "" || !preset) return;
    fill(preset.state);
    changed(read());
  });
  return box;
}

function same(preset: State, state: State): boolean {
  const keys = new Set([...Object.keys(preset), ...Object.keys(state)]);
  return [...keys].every((k) => (preset[k] ?? standard(k)) === (state[k] ?? standard(k)));
}

function standard(id: string): string {
  return id === "form" ? FORMS[0][0] : (FIELDS.find((f) => f.id === id)?.choices?.[0]?.[0] ?? "");
}
