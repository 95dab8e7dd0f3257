// The report page. What it shows at first was written into it; from then on the engine writes each new answer, and this
// script puts it in place. Nothing is computed here.

import { byId, el, say } from "../dom";
import { makeTimeline, type Timeline } from "./timeline";
import { makeFiles } from "../figure";
import { takeHanded } from "./handed";
import { pictured } from "./picture";
import { makeSortable } from "./sorting";
import { readFile } from "./unpack";
import { fragment, labelled, makeWhatIf, type Options, type View, type WhatIf } from "./whatif";
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
    if (packed("file") !== "") whatIf.recorded(await engine.ask("openPacked", packed("file"), packed("sizes")));
    return engine;
  }));
}

let whatIf: WhatIf;
/** The file that is open, where its name is known. */
let file = "";
let address = 0;
/** Part of the timeline that a link asks for; void once a switch is changed. */
let wanted: [number, number] | undefined;
let asked = 0;

/** Shows the report under the switches as they are; a newer question makes an older answer void. */
async function ask(): Promise<void> {
  const question = ++asked;
  remember();
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
  const text = labelled(hint ? `${message}. ${hint}` : message);
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
  dress();
}

/** What a report gets from the page: tables that sort, charts that can be saved, the page's words for flags. */
function dress(): void {
  makeSortable(byId("detail"));
  // The timeline is soon drawn anew, in dots.
  for (const drawing of document.querySelectorAll<SVGSVGElement>("#detail svg.drawing")) {
    if (drawing.closest(".look")) continue;
    const { width, height } = drawing.viewBox.baseVal;
    drawing.setAttribute("width", String(width));
    drawing.setAttribute("height", String(height));
    const name = drawing.closest("section")?.id ?? "chart";
    (drawing.closest(".wide") ?? drawing).after(makeFiles(`Save ${name} as`, () => name, () => drawing));
  }
  for (const chart of document.querySelectorAll(".bars, .strip")) {
    const name = chart.closest("section")?.id ?? "times";
    chart.after(makeFiles(`Save ${name} as`, () => name, () => pictured(chart)));
  }
  for (const part of document.querySelectorAll("#answer h1, #answer > p, #notes li, #turns li")) {
    for (const text of part.childNodes) if (text instanceof Text) say(text, labelled(text.data));
  }
}

/** Keeps the address up to date; browsers allow that only so often. */
function remember(): void {
  clearTimeout(address);
  address = setTimeout(() => history.replaceState(null, "", fragment(whatIf) || location.pathname + location.search), 200);
}

/** Sets the switches as the address says, and names what of it cannot be read. */
async function restore(): Promise<void> {
  if (byId("what-if").firstChild === null) return;
  const before = JSON.stringify(whatIf.options());
  const unknown = whatIf.fromFragment(location.hash);
  unknown.push(...lookAt(new URLSearchParams(location.hash.slice(1))));
  if (JSON.stringify(whatIf.options()) !== before) await ask();
  leftOut(unknown);
}

/** What is unfolded, by section, and the part of the timeline that is shown. */
function view(): View {
  const open = [...document.querySelectorAll("#detail section:has(details[open])")].map((section) => section.id);
  return { open: open.join("."), at: timeline?.window()?.join("_") ?? "" };
}

/** Looks at what a link says; gives back what of it there is not. */
function lookAt(link: URLSearchParams): string[] {
  const [open, at] = [link.get("open") ?? "", link.get("at") ?? ""];
  const folds = open.split(".").filter((id) => id !== "").map((id) => [id, document.querySelector<HTMLDetailsElement>(`section[id="${CSS.escape(id)}"] details`)] as const);
  for (const [, fold] of folds) if (fold) fold.open = true;
  const [from, to] = at.split("_").map(Number);
  wanted = from! >= 0 && from! < to! ? [from!, to!] : undefined;
  if (wanted && timeline) void look(whatIf.options());
  return [...folds.filter(([, fold]) => !fold).map(([id]) => `open=${id}`), ...(at && !wanted ? [`at=${at}`] : [])];
}

function leftOut(unknown: readonly string[]): void {
  if (unknown.length > 0) complain(`This link has something that this page does not know, and leaves out: ${unknown.slice(0, 5).map(short).join(", ")}`);
}

/** What the command is to read: the file opened, or the one that a program of this name is recorded to. */
function fileName(): string {
  const program = document.querySelector("#answer .name")?.textContent ?? "";
  const stem = program.replace(/\.(py|ipynb)$/, "");
  return file || (/^[\w.][\w. -]*$/.test(stem) ? `${stem}.breakeven.json` : "FILE");
}

const key = (details: Element) => `${details.closest("section")?.id ?? ""} ${details.querySelector("summary")?.textContent ?? ""}`;

/** Lays out the timeline that the report shows in few columns, so that it can be looked at closely. */
async function look(options: Options): Promise<void> {
  const place = document.querySelector<HTMLElement>("#timeline .look");
  const gpu = place?.dataset["gpu"];
  if (!place || !gpu) return;
  const engine = await started("draws");
  const next = await engine.ask("look", JSON.stringify({ ...options, gpu: [gpu], max_price: undefined }), today);
  timeline ??= makeTimeline(engine, remember);
  place.replaceChildren(timeline.node);
  timeline.show(next, wanted);
}

/** Opens a file that somebody chose; what is shown stays until it has been read and answered. */
async function open(chosen: File): Promise<void> {
  document.body.classList.add("asking");
  try {
    const bytes = await readFile(chosen);
    const recorded = await (await started("answers")).ask("open", bytes);
    await (await started("draws")).ask("open", bytes);
    whatIf.show({ timeline: true });
    whatIf.recorded(recorded);
    const first = begin();
    file = chosen.name;
    document.title = `${file} · breakeven`;
    // A link opened before there was a file waits for the first.
    const unknown = first ? whatIf.fromFragment(location.hash) : [];
    await ask();
    leftOut(unknown);
  } catch (error) {
    const { message, hint } = refusal(error as Error);
    complain(`${short(chosen.name)}: ${hint ? `${message}. ${hint}` : message}`);
  } finally {
    document.body.classList.remove("asking");
  }
}

/** A name that cannot turn the words after it round, nor fill the page. */
function short(name: string): string {
  const plain = [...name].filter((c) => !/\p{C}/u.test(c)).join("");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}

/** Shows the switches; true where they were not. */
function begin(): boolean {
  const first = !byId("what-if").firstChild;
  if (first) byId("what-if").append(whatIf.form);
  return first;
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
  const changed = () => {
    wanted = undefined;
    void ask();
  };
  whatIf = makeWhatIf(changed, fileName, async (markdown) =>
    (await started("answers")).ask("text", JSON.stringify(whatIf.options()), today, markdown), view);
  // The list is only needed by who types a name.
  whatIf.form.addEventListener("focusin", () => {
    void started("answers").then((engine) => engine.ask("gpus")).then(whatIf.suggest, () => undefined);
  }, { once: true });
  tools();
  dress();
  takeHanded((file) => void open(file));
  addEventListener("hashchange", () => void restore());
  byId("detail").addEventListener("toggle", remember, true);
  if (packed("file") === "") return;
  const options = JSON.parse(packed("asked")) as Options;
  whatIf.show(options);
  begin();
  Promise.all([look(options), restore()]).then(() => document.body.classList.add("ready"), (error: Error) => complain(refusal(error).message));
}
