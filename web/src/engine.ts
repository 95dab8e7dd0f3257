// The engine: the core as WebAssembly, unpacked from the page itself.

import init, { answer as ask, cpus, figures as cited, formula, markdown as report, providers, source, word as print } from "engine";
import { byId } from "./dom";
import { unpackText } from "./lzma";
import type { DatasheetFigure, Estimate, Interval, Refusal, Request } from "./schema";

export { cpus, formula, providers };

/** Unpacks and starts the engine; nothing is fetched. */
export async function start(): Promise<void> {
  await init({ module_or_path: unpackText(byId("engine").textContent) });
}

/** What stands where a figure is not known. */
export const UNKNOWN = "not known";

/** A number as every report prints it; the name is that of a word of the core, such as `seconds`. */
export function word(name: string, x: number | Interval | null | undefined): string {
  if (x === null || x === undefined) return UNKNOWN;
  return typeof x === "number" ? print(name, x, x, x) : print(name, x.p10, x.p50, x.p90);
}

/** An answer with the JSON it came as, or why there is none. */
export type Answer = { estimate: Estimate; json: string } | { refusal: Refusal };

export function answer(request: Request): Answer {
  const json = ask(JSON.stringify(request));
  const parsed = JSON.parse(json) as Estimate | { error: Refusal };
  return "error" in parsed ? { refusal: parsed.error } : { estimate: parsed, json };
}

/** The Markdown report; empty when there is no answer. */
export function markdown(request: Request): string {
  return report(JSON.stringify(request)) ?? "";
}

/** What the catalogue has of a GPU; nothing for one that is not in it. */
export function datasheet(gpu: string): DatasheetFigure[] {
  const json = cited(gpu);
  return json ? (JSON.parse(json) as { gpus: [{ figures: DatasheetFigure[] }] }).gpus[0].figures : [];
}

/** Title and address of a document that figures cite. */
export function document(id: string): { title: string; url: string } {
  const [title, url] = source(id);
  return { title: title ?? id, url: url ?? "" };
}
