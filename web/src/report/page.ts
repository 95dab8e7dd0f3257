// The report page. What it shows at first was written into it; from then on the engine writes each new answer, and this
// script puts it in place. Nothing is computed here.

import { byId, el, say } from "../dom";
import { makeTimeline, type Timeline } from "./timeline";
import { makeSortable } from "./sorting";
import { readFile } from "./unpack";
import { makeWhatIf, type Options, type WhatIf } from "./whatif";
import { connect, type Engine } from "./worker";

const today = new Date().toISOString().slice(0, 10);

/** Two engines: one answers, which may take a second, and one draws meanwhile. */
const engines: { answers?: Promise<Engine>; draws?: Promise<Engine> } = {};
let timeline: Timeline | undefined;

function packed(id: string): string {
  return byId(id).textContent.trim();
}

function start(): Promise<Engine> {
  return connect(byId("script").textContent, packed("engine"));
}

/** The engine of that name, with the page's own file open if it has one. */
function started(name: keyof typeof engines): Promise<Engine> {
  return (engines[name] ??= start().then(async (engine) => {
    if (packed("file") !== "") await engine.ask("openPacked", packed("file"));
    return engine;
  }));
}

let whatIf: WhatIf;
let asked = 0;

/** Shows the report under the switches as they are; a newer question makes an older answer void. */
async function ask(): Promise<void> {
  const question = ++asked;
  document.body.classList.add("asking");
  try {
    const engine = await started("answers");
    // Typing goes on while the engine thinks: only the last question is asked.
    if (question !== asked) return;
    const options = whatIf.options();
    const html = await engine.ask("html", JSON.stringify(options), today);
    if (question !== asked) return;
    show(html);
    // Its faults have been told with the answer's.
    void look(options).catch(() => undefined);
    whatIf.refuse(undefined, "");
    hush();
    say(byId("live"), document.querySelector("#answer h1")?.textContent ?? "");
  } catch (error) {
    if (question === asked) refuse(error as Error);
  } finally {
    if (question === asked) document.body.classList.remove("asking");
  }
}

/** A refusal beside its switch, or above all; the last good report stays. */
function refuse(error: Error): void {
  const { message, hint, field } = refusal(error);
  const text = hint ? `${message}. ${hint}` : message;
  if (field && document.getElementById(`if-${field}`)) whatIf.refuse(field, text);
  else complain(text);
}

function refusal(error: Error): { message: string; hint?: string; field?: string } {
  try {
    return JSON.parse(error.message).error;
  } catch {
    return { message: error.message };
  }
}

function complain(text: string): void {
  say(byId("message"), text);
  byId("message").hidden = false;
}

function hush(): void {
  say(byId("message"), "");
  byId("message").hidden = true;
}

/** Puts a report of the engine's in place of what is shown; folds that are open stay open. */
function show(html: string): void {
  const next = el("template");
  next.innerHTML = html;
  const open = new Set([...document.querySelectorAll("details[open]")].map(key));
  for (const id of ["answer", "detail"]) {
    const part = next.content.querySelector(`#${id}`);
    if (part) byId(id).replaceChildren(...part.childNodes);
  }
  for (const details of document.querySelectorAll("details")) if (open.has(key(details))) details.open = true;
  makeSortable(byId("detail"));
}

const key = (details: Element) => `${details.closest("section")?.id ?? ""} ${details.querySelector("summary")?.textContent ?? ""}`;

/** Lays out the timeline that the report shows in few columns, so that it can be looked at closely. */
async function look(options: Options): Promise<void> {
  const place = document.querySelector<HTMLElement>("#timeline .look");
  const gpu = place?.dataset["gpu"];
  if (!place || !gpu) return;
  const engine = await started("draws");
  const next = await engine.ask("look", JSON.stringify({ ...options, gpu: [gpu], max_price: undefined }), today);
  timeline ??= makeTimeline(engine);
  place.replaceChildren(timeline.node);
  timeline.show(next);
}

/** Opens a file that somebody chose; what is shown stays until it has been read and answered. */
async function open(file: File): Promise<void> {
  document.body.classList.add("asking");
  try {
    const bytes = await readFile(file);
    await (await started("answers")).ask("open", bytes);
    await (await started("draws")).ask("open", bytes);
    whatIf.show({ timeline: true });
    begin();
    document.title = `${file.name} · breakeven`;
    await ask();
  } catch (error) {
    const { message, hint } = refusal(error as Error);
    complain(`${short(file.name)}: ${hint ? `${message}. ${hint}` : message}`);
  } finally {
    document.body.classList.remove("asking");
  }
}

/** A name that cannot turn the words after it round, nor fill the page. */
function short(name: string): string {
  const plain = [...name].filter((c) => !/\p{C}/u.test(c)).join("");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}

function begin(): void {
  if (!byId("what-if").firstChild) byId("what-if").append(whatIf.form);
}

function tools(): void {
  const input = el("input", { type: "file", id: "choose", accept: ".json,.gz,application/json,application/gzip" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) void open(file);
  });
  byId("tools").append(el("label", { for: "choose", class: "button" }, "Open a workload…"), input);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (file) void open(file);
  });
}

/** Brings the page to life. */
export function bring(): void {
  whatIf = makeWhatIf(() => void ask());
  // The list is only needed by who types a name.
  whatIf.form.addEventListener("focusin", () => {
    void started("answers").then((engine) => engine.ask("gpus")).then(whatIf.suggest, () => undefined);
  }, { once: true });
  tools();
  makeSortable(document);
  if (packed("file") === "") return;
  const options = JSON.parse(packed("asked")) as Options;
  whatIf.show(options);
  begin();
  look(options).then(() => document.body.classList.add("ready"), (error: Error) => complain(refusal(error).message));
}
