// The engine speaks of flags, as the command does; the page of its fields.

import { FIELDS } from "./fields";

const BY_FLAG = new Map(FIELDS.map((f) => [f.flag, f.label]));
const BY_ID = new Map(FIELDS.map((f) => [f.id, f.label]));

/** A text of the engine with the labels of fields in place of flags. */
export function labelled(text: string): string {
  return text.replace(/`(--[\w-]+|\w+)([ =][^`]*)?`/g, (all, name: string, rest?: string) => {
    const label = name.startsWith("--") ? BY_FLAG.get(name) : rest ? undefined : BY_ID.get(name);
    return label ? `“${label}”${rest ?? ""}` : all;
  });
}
