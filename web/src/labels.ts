// The names that the calculator has for what the engine speaks of.

import { FIELDS } from "./fields";
import { labeller } from "./flags";

const BY_ID = new Map(FIELDS.map((f) => [f.id, f.label]));

const named = labeller(FIELDS);

/** A text of the engine with the labels of fields in place of flags, and without what only the command has. */
export function labelled(text: string): string {
  return named(text.replace(/, --catalogue adds your own/, "").replace(/`breakeven cpus` lists every name, /, ""));
}

/** The label of a field; an input of the formula that has none is called as it is. */
export function labelOf(id: string): string {
  return BY_ID.get(id) ?? id.replaceAll("_", " ");
}
