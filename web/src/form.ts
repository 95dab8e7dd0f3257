// The form: made from the list of fields, read back as a state, and marked with what the engine says of each field.

import { byId, el, say } from "./dom";
import { EXPERT, FIELDS, FORMS, FORMULA, MONEY, QUICK, type Field } from "./fields";
import { labelled } from "./labels";
import { PRESETS } from "./presets";
import type { FormulaInput, Refusal } from "./schema";
import { isBlank, type State } from "./state";

/** Marks of writing direction and their kin, which come along with what is pasted. */
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** What the list of examples shows when the fields hold none of them. */
const TYPED = "typed";

type Control = HTMLInputElement | HTMLSelectElement;
const controls = new Map<string, Control>();

/** Builds the form; `changed` is called with the state at each keystroke, and with the field where that was typed. */
export function build(changed: (state: State, typed?: string) => void): void {
  const quick = el("div", { class: "grid" }, examples(changed));
  for (const f of QUICK) {
    if (f.id === "flops") quick.append(wrapped("form", "Size given as", undefined, select(FORMS)));
    quick.append(field(f));
  }
  const part = (title: string, fields: readonly Field[]) => [
    el("p", { class: "part" }, title),
    el("div", { class: "grid", role: "group", "aria-label": title }, ...fields.map(field)),
  ];
  byId("inputs").append(
    quick,
    el("p", { id: "cleared", role: "status", hidden: true }),
    el("p", { id: "general", class: "error", hidden: true }),
    el("details", { id: "expert" }, el("summary", {}, "All inputs ", el("span", { id: "given" })),
      ...part("Given one of these, the formula answers in the model's place", FORMULA),
      ...part("Copies back, money, energy", MONEY)),
    el("datalist", { id: "gpus" }),
    el("datalist", { id: "cpus" }),
  );
  byId("inputs").addEventListener("submit", (event) => event.preventDefault());
  byId("inputs").addEventListener("input", (event) => {
    if (event.target === controls.get("preset")) return;
    choose();
    changed(read(), (event.target as Element).id.replace(/^in-/, ""));
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
    if (control instanceof HTMLInputElement) control.placeholder = input && input.basis !== "given" ? input.text : grey(f);
  }
  tell("");
}

/** What stands in an empty field: what is taken then, or what may be typed. */
function grey(f: Field): string {
  return f.otherwise ?? (f.example ? `e.g. ${f.example}` : "");
}

/** Says what was cleared, and offers it back. Without a text there is nothing to say. */
export function tellCleared(text = "", undo: () => void = () => undefined): void {
  const button = el("button", { type: "button" }, "Undo");
  button.addEventListener("click", undo);
  byId("cleared").replaceChildren(...(text ? [`${text} `, button] : []));
  byId("cleared").hidden = text === "";
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
    const about = shown(refusal.field ?? "");
    if (controls.has(about)) {
      note(about, text, true);
      if (EXPERT.some((f) => f.id === about)) byId<HTMLDetailsElement>("expert").open = true;
    } else {
      tell(text);
    }
  }
}

/** The field to mark for this one: for a size that is asked for in another form, the first of the form chosen. */
function shown(id: string): string {
  const form = controls.get("form")!.value;
  const other = FIELDS.find((f) => f.id === id)?.form ?? form;
  return other === form ? id : FIELDS.find((f) => f.form === form)!.id;
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

/** Shows the fields of the chosen form of size, which example they hold, and how many expert fields are given. */
function choose(): void {
  const form = controls.get("form")!.value;
  for (const f of QUICK) if (f.form) byId(`field-${f.id}`).hidden = f.form !== form;
  const state = read();
  const preset = PRESETS.findIndex((p) => same(p.state, state));
  controls.get("preset")!.value = isBlank(state) ? "" : preset < 0 ? TYPED : String(preset);
  for (const f of EXPERT) byId(`field-${f.id}`).classList.toggle("given", state[f.id] !== undefined);
  const given = EXPERT.filter((f) => state[f.id] !== undefined).length;
  say(byId("given"), given === 0 ? "" : `(${given} given)`);
}

function field(f: Field): HTMLElement {
  if (f.choices) return wrapped(f.id, f.label, f.known, select(f.choices));
  if (f.tick) return wrapped(f.id, f.label, f.known, el("input", { type: "checkbox" }), "tick");
  const input = el("input", { type: "text", spellcheck: "false", autocapitalize: "off", placeholder: grey(f) });
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

/** The list of examples, and a button that brings the chosen one back. */
function examples(changed: (state: State) => void): HTMLElement {
  const box = select([["", "My own numbers"], ...PRESETS.map((p, i) => [String(i), p.name] as const)]);
  box.append(el("option", { value: TYPED, hidden: true }, "As typed below"));
  let last = PRESETS[0]!.state;
  const show = (state: State) => {
    fill(state);
    changed(read());
  };
  box.addEventListener("change", () => {
    const preset = PRESETS[Number(box.value)];
    if (box.value === "" || !preset) return show({ form: controls.get("form")!.value });
    last = preset.state;
    show(last);
  });
  const reset = el("button", { type: "button", id: "reset", title: "Brings the example back" }, "Reset");
  reset.addEventListener("click", () => show(last));
  const whole = wrapped("preset", "Example", undefined, box, "wide");
  box.after(reset);
  return whole;
}

function same(preset: State, state: State): boolean {
  const keys = new Set([...Object.keys(preset), ...Object.keys(state)]);
  return [...keys].every((k) => (preset[k] ?? standard(k)) === (state[k] ?? standard(k)));
}

function standard(id: string): string {
  return id === "form" ? FORMS[0][0] : (FIELDS.find((f) => f.id === id)?.choices?.[0]?.[0] ?? "");
}
