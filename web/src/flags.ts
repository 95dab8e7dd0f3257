// The engine speaks of flags, as the command does; a page of its fields.

export interface Labelled { id: string; flag: string; label: string }

/** Puts the labels of these fields in place of flags, in texts of the engine; what goes with a flag is for the field. */
export function labeller(fields: readonly Labelled[]): (text: string) => string {
  const byFlag = new Map(fields.map((f) => [f.flag, f.label]));
  const byId = new Map(fields.map((f) => [f.id, f.label]));
  return (text) => text
    .replace(/`breakeven (gpus|prices)`/g, "“All GPUs”")
    .replace(/`(--[\w-]+)( [^`]*)?`|`(\w+)`|(?<![`\w])(--[a-z-]+)/g, (all, flag?: string, value?: string, id?: string, bare?: string) => {
      const label = byFlag.get(flag ?? bare ?? "") ?? byId.get(id ?? "");
      if (!label) return all;
      return value ? value.trim() : `“${label}”`;
    });
}
