// What is typed: to and from the link, the request and the command line.

import { FIELDS, FORMS, type Field } from "./fields";
import type { Request } from "./schema";

/** Typed text by field; `form` says how the size is given. Empty means: not given. */
export type State = Record<string, string>;

const TICKED = "yes";
const KEYS = new Set(["form", ...FIELDS.map((f) => f.id)]);

/** Fields that count: those of another form of size do not. */
export function active(state: State): Field[] {
  const form = state["form"] || FORMS[0][0];
  return FIELDS.filter((f) => (state[f.id] ?? "").trim() !== "" && (!f.form || f.form === form));
}

/** From the part of the address after `#`. What is not a field is left out and named. */
export function fromFragment(fragment: string): { state: State; unknown: string[] } {
  const state: State = {};
  const unknown: string[] = [];
  for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (!KEYS.has(key)) unknown.push(key);
    else if (value !== "") state[key] = value;
  }
  return { state, unknown };
}

/** The part of the address after `#`; `fromFragment` gives the state back. */
export function toFragment(state: State): string {
  const out = new URLSearchParams();
  const form = state["form"];
  if (form && form !== FORMS[0][0]) out.set("form", form);
  for (const f of active(state)) out.set(f.id, state[f.id] ?? "");
  return out.toString();
}

/** The question to the engine. `all` asks about every GPU: what describes the one chosen is left out. */
export function toRequest(state: State, today: string, all = false): Request {
  const request: Request = { today, numbers: {}, options: {} };
  for (const f of active(state)) {
    const text = (state[f.id] ?? "").trim();
    if (all && (f.card || f.gpu)) continue;
    if (f.gpu) request.options[f.id] = [text];
    else request[f.part][f.id] = f.tick ? text === TICKED : text;
  }
  return request;
}

/** The same question for a shell. */
export function toCommand(state: State): string {
  const words = ["breakeven", "estimate"];
  for (const f of active(state)) {
    words.push(f.flag);
    if (!f.tick) words.push(quoted((state[f.id] ?? "").trim()));
  }
  return words.join(" ");
}

function quoted(text: string): string {
  return /^[\w.,:/%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
