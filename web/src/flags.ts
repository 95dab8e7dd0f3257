// The engine speaks of flags, as the command does; a page of its fields.

export interface Labelled { id: string; flag: string; label: string }

/** Puts the labels of these fields in place of flags, in texts of the engine. */
export function labeller(fields: readonly Labelled[]): (text: string) => string {
  const byFlag = new Map(fields.map((f) => [f.flag, f.label]));
  const byId = new Map(fields.map((f) => [f.id, f.label]));
  const named = (text: string) => text.replace(/(?<!\w)--[a-z-]+/g, (flag) => (byFlag.has(flag) ? `“${byFlag.get(flag)}”` : flag));
  return (text) => text
    .replace(/`breakeven (gpus|prices)`/g, "“All GPUs”")
    .replace(/`([^`]+)`|[^`]+/g, (all, code?: string) => {
      if (code === undefined) return named(all);
      const said = byId.has(code) ? `“${byId.get(code)}”` : named(code);
      return said === code ? all : said;
    });
}
