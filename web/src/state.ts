// What is typed and what is looked at: to and from the link, the request and the command line.

import { FIELDS, FORMS, type Field } from "./fields";
import type { Request } from "./schema";
import { listed, quoted } from "./words";

/** Typed text by field; `form` says how the size is given. Empty means: not given. */
export type State = Record<string, string>;

/** What is open, and how the table of GPUs is sorted and filtered. */
export type View = Record<string, string>;

/** Longer texts are refused in any field; a link has no room for them. */
const LONGEST = 4000;
const TICKED = "yes";
const TICK = [[TICKED], [""]] as const;
const KEYS = new Set(["form", ...FIELDS.map((f) => f.id)]);
const VIEW_KEYS = new Set(["open", "sort", "name", "from", "upto", "room"]);

/** Fields that count: those of another form of size do not. */
export function active(state: State): Field[] {
  const form = state["form"] || FORMS[0][0];
  return FIELDS.filter((f) => (state[f.id] ?? "").trim() !== "" && (!f.form || f.form === form));
}

/** Whether nothing is typed: a form of size and a choice's first line say nothing yet. */
export function isBlank(state: State): boolean {
  return FIELDS.every((f) => (state[f.id] ?? "").trim() === "" || state[f.id] === f.choices?.[0]?.[0]);
}

/** What counts in `before` and is otherwise now, or what is new: `For GPU l4`, `Without “Data moved”`. */
export function told(before: State, now: State): string {
  const text = (state: State, f: Field) => (active(state).includes(f) ? (state[f.id] ?? "").trim() : "");
  const gone = active(before).filter((f) => text(before, f) !== text(now, f));
  const of = gone.map((f) => `${f.label} ${text(before, f).slice(0, 40)}`);
  const added = active(now).filter((f) => text(before, f) === "").map((f) => `“${f.label}”`);
  return of.length > 0 ? `For ${of.join(", ")}` : `Without ${added.join(", ")}`;
}

/** The state without what was given for one card, and the labels of that. */
export function withoutCard(state: State): { rest: State; labels: string[] } {
  const given = active(state).filter((f) => f.card);
  const rest = Object.fromEntries(Object.entries(state).filter(([id]) => given.every((f) => f.id !== id)));
  return { rest, labels: given.map((f) => f.label.replace(/^or /, "")) };
}

/** From the part of the address after `#`. What the page does not know is left out and named. */
export function fromFragment(fragment: string): { state: State; view: View; unknown: string[] } {
  const [state, view, unknown]: [State, View, string[]] = [{}, {}, []];
  for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    const field = FIELDS.find((f) => f.id === key);
    const choices: readonly (readonly string[])[] | undefined = key === "form" ? FORMS : field?.tick ? TICK : field?.choices;
    if (VIEW_KEYS.has(key)) view[key] = value;
    else if (!KEYS.has(key) || (choices && !choices.some(([choice]) => choice === value))) unknown.push(value ? `${key}=${value}` : key);
    else if (value !== "") state[key] = value;
  }
  return { state, view, unknown };
}

/** The part of the address after `#`; `fromFragment` gives state and view back. */
export function toFragment(state: State, view: View = {}): string {
  const out = new URLSearchParams();
  const form = state["form"];
  if (form && form !== FORMS[0][0]) out.set("form", form);
  for (const f of active(state)) {
    const text = state[f.id] ?? "";
    if (text !== f.choices?.[0]?.[0] && text.length <= LONGEST) out.set(f.id, text);
  }
  for (const [key, value] of Object.entries(view)) if (value !== "" && value.length <= LONGEST) out.set(key, value);
  return out.toString();
}

/** The question to the engine. */
export function toRequest(state: State, today: string): Request {
  return request(active(state), state, today);
}

/**
 * The question about every GPU: what describes the one chosen is left out. `provider` is whose prices are wanted, where
 * the fields do not say.
 */
export function toAll(state: State, today: string, provider: string): Request {
  const all = request(active(state).filter((f) => !f.card && f.names !== "gpus"), state, today);
  if (provider && !all.options["provider"]) all.options["provider"] = provider;
  return all;
}

/** The question about one GPU without anything that the model can tell itself; nothing where none of that was given. */
export function toModel(state: State, today: string, gpu: string): Request | undefined {
  const given = active(state);
  const rest = given.filter((f) => !f.card && !f.modelled);
  if (rest.length === given.length) return undefined;
  const made = request(rest, state, today);
  return { ...made, options: { ...made.options, gpu: [gpu] } };
}

function request(fields: readonly Field[], state: State, today: string): Request {
  const made: Request = { today, numbers: {}, options: {} };
  for (const f of fields) {
    const text = (state[f.id] ?? "").trim();
    if (f.names === "gpus") made.options[f.id] = listed(text);
    else made[f.part][f.id] = f.tick ? text === TICKED : text;
  }
  return made;
}

/** The same question for a shell. */
export function toCommand(state: State): string {
  const words = ["breakeven", "estimate"];
  for (const f of active(state)) {
    words.push(f.flag);
    const text = (state[f.id] ?? "").trim();
    if (!f.tick) words.push(quoted(f.names === "gpus" ? listed(text).join(",") : text));
  }
  return words.join(" ");
}
