// The engine speaks of flags, as the command does; the page of its fields.

import { FIELDS } from "./fields";

const BY_FLAG = new Map(FIELDS.map((f) => [f.flag, f.label]));
const BY_ID = new Map(FIELDS.map((f) => [f.id, f.label]));

/** A text of the engine with the labels of fields in place of flags; what goes with a flag is for the field. */
export function labelled(text: string): string {
  return text
    .replaceAll("`breakeven gpus`", "“All GPUs”")
    .replace(/`(--[\w-]+)( [^`]*)?`|`(\w+)`|(?<![`\w])(--[a-z-]+)/g, (all, flag?: string, value?: string, id?: string, bare?: string) => {
      const label = BY_FLAG.get(flag ?? bare ?? "") ?? BY_ID.get(id ?? "");
      if (!label) return all;
      return value ? value.trim() : `“${label}”`;
    });
}

/** The label of a field; an input of the formula that has none is called as it is. */
export function labelOf(id: string): string {
  return BY_ID.get(id) ?? id.replaceAll("_", " ");
}
