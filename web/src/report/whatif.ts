// The switches: what would the answer be with another GPU, at another price? Each is an option of the request.

import { el } from "../dom";
import { labeller } from "../flags";
import { makeShare } from "../share";
import { listed, quoted } from "../words";
import type { Recorded } from "./worker";

export type Options = Record<string, unknown>;

interface Switch {
  id: string;
  label: string;
  kind: "text" | "tick" | "choice";
  choices?: readonly (readonly [string, string])[];
  placeholder?: string;
  hint?: string;
}

const SWITCHES: readonly Switch[] = [
  { id: "gpu", label: "GPU", kind: "text", placeholder: "all of them", hint: "several apart by commas" },
  { id: "price", label: "Price of a GPU", kind: "text", placeholder: "of the catalogue", hint: "$/h" },
  { id: "precision", label: "Precision", kind: "choice", choices: [["", "as recorded"], ["fp64", "fp64, double"], ["fp32", "fp32, single"], ["tf32", "fp32, products in tf32"], ["bf16", "fp32, products in bf16"]] },
  { id: "size", label: "Size of the problem", kind: "text", placeholder: "1", hint: "times the recorded one" },
  { id: "policy", label: "Arrays", kind: "choice", choices: [["", "stay on the GPU"], ["naive", "copied at each call"], ["as-written", "copied as the script does"]] },
  { id: "runs_per_month", label: "Runs a month", kind: "text", placeholder: "one" },
  { id: "exclude_startup", label: "Leave start-up out", kind: "tick" },
  { id: "spot", label: "Spot prices", kind: "tick" },
];

const flag = (id: string) => `--${id.replaceAll("_", "-")}`;

/** A text of the engine with the labels of the switches in place of flags. */
export const labelled = labeller(SWITCHES.map(({ id, label }) => ({ id, label, flag: flag(id) })));

type Control = HTMLInputElement | HTMLSelectElement;

/** How arrays travel is asked about a program that is to be ported; one that uses a GPU library says it itself. */
const WRITTEN = "the script says itself what is copied; “Would help” tells what less copying would bring";
const PLAIN = "the script uses no GPU library";

export interface WhatIf {
  form: HTMLFormElement;
  /** Another program is open, perhaps: what does not apply to it cannot be chosen. */
  recorded(what: Recorded): void;
  /** The options as they are set, over those that the report was asked under. */
  options(): Options;
  /** Sets the switches to these options. */
  show(options: Options): void;
  /** What differs from the options shown, and what is looked at, as the part of the address after `#`. */
  toFragment(): string;
  /** Sets the switches to the options shown and to what a fragment says; gives back what of it cannot be read. */
  fromFragment(fragment: string): string[];
  /** Marks the switch that the engine refuses, with its words; `undefined` takes all marks away. */
  refuse(field: string | undefined, text: string): void;
  /** Names that the GPU field suggests. */
  suggest(names: readonly string[]): void;
}

/** What the command is asked for these options of a file; each has a flag of its name. */
export function toCommand(options: Options, file: string, sizes: readonly number[] = []): string {
  const named = (file: string) => (file.startsWith("-") ? quoted(`./${file}`) : quoted(file));
  const words = ["breakeven", "show", named(file)];
  // As the command saves runs of several sizes: `heat.0.25.breakeven.json` beside `heat.breakeven.json`.
  for (const size of sizes.slice(1)) words.push(named(file.replace(/\.|$/, `.${size}.`).replace(/\.$/, "")));
  if (sizes.length > 0) words.push("--scale", sizes.join(","));
  for (const [id, value] of Object.entries(options)) {
    // Lists of nothing, what is off, and the drawing, which is the page's own wish.
    const text = Array.isArray(value) ? value.join(",") : value;
    if (text === null || text === undefined || text === false || text === "" || id === "timeline") continue;
    words.push(flag(id));
    if (text !== true) words.push(quoted(String(text)));
  }
  return words.join(" ");
}

/** What is looked at, by the names that it has in a link; empty where it is as at first. */
export type View = Record<"open" | "at", string>;

/**
 * Makes the form; `changed` is called when a switch is, `file` names the file for the command, `text` writes the answer,
 * `view` tells what is looked at.
 */
export function makeWhatIf(changed: () => void, file: () => string, text: (markdown: boolean) => Promise<string>, view: () => View): WhatIf {
  const controls = new Map<string, Control>();
  const given = new Map<string, string>();
  /** Beside a switch, in place of its own hint. */
  const hints = new Map<string, string>();
  let base: Options = {};
  let sizes: readonly number[] = [];
  const names = el("datalist", { id: "names" });
  const fields = SWITCHES.map((s) => {
    const control = make(s);
    controls.set(s.id, control);
    const label = el("label", { for: control.id }, s.label);
    const note = el("small", { id: `${control.id}-note` }, s.hint ?? "");
    return el("div", { class: `field ${s.kind}` }, label, control, note);
  });
  const reset = el("button", { type: "button" }, "As recorded");
  const said = el("p", { class: "soft command", role: "status" });
  const share = el("div", { class: "share", role: "group", "aria-label": "Share" });
  const form = el("form", { class: "what-if", "aria-label": "What if", autocomplete: "off" },
    el("h2", {}, "What if"), el("div", { class: "fields" }, ...fields, el("div", { class: "field buttons" }, reset)), share, said, names);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", changed);
  const read = (s: Switch) => {
    const control = controls.get(s.id)!;
    return s.kind === "tick" ? ((control as HTMLInputElement).checked ? "yes" : "") : control.value.trim();
  };
  const whatIf: WhatIf = {
    form,
    options() {
      const options: Options = { ...base };
      for (const s of SWITCHES) {
        const text = read(s);
        // What nobody touched stays as the command gave it, lists and units included.
        if (text === given.get(s.id)) continue;
        if (s.kind === "tick") options[s.id] = text !== "";
        else if (s.id === "gpu") options[s.id] = listed(text);
        else if (text === "") delete options[s.id];
        else options[s.id] = text;
      }
      return options;
    },
    recorded(what) {
      sizes = what.sizes;
      const policy = controls.get("policy") as HTMLSelectElement;
      for (const option of policy.options) {
        option.disabled = (option.value === "as-written") !== what.written && option.value !== "";
        if (option.value === "") option.text = what.written ? "copied as the script does" : "stay on the GPU";
        option.title = option.disabled ? (what.written ? WRITTEN : PLAIN) : "";
        option.hidden = option.value === "as-written" && policy.value !== "as-written";
      }
      hints.set("policy", what.written ? WRITTEN : "");
      if (!policy.hasAttribute("aria-invalid")) form.querySelector(`#${policy.id}-note`)!.textContent = hints.get("policy")!;
    },
    show(options) {
      base = options;
      for (const s of SWITCHES) {
        const value = options[s.id];
        const control = controls.get(s.id)!;
        if (s.kind === "tick") (control as HTMLInputElement).checked = value === true;
        else control.value = Array.isArray(value) ? value.join(", ") : value === undefined || value === null ? "" : String(value);
        given.set(s.id, read(s));
      }
    },
    toFragment() {
      const out = new URLSearchParams();
      for (const s of SWITCHES) {
        const text = read(s);
        if (text !== given.get(s.id)) out.set(s.id, s.kind === "tick" ? text || "no" : text);
      }
      for (const [key, value] of Object.entries(view())) if (value) out.set(key, value);
      return out.toString();
    },
    fromFragment(fragment) {
      whatIf.show(base);
      const unknown: string[] = [];
      for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
        if (key in view()) continue;
        const s = SWITCHES.find(({ id }) => id === key);
        const control = controls.get(key);
        const choices = s?.kind === "tick" ? ["yes", "no"] : s?.choices?.map(([choice]) => choice);
        if (!s || !control || (choices && !choices.includes(value))) unknown.push(value ? `${key}=${value}` : key);
        else if (s.kind === "tick") (control as HTMLInputElement).checked = value === "yes";
        else control.value = value;
      }
      return unknown;
    },
    refuse(field, text) {
      for (const s of SWITCHES) {
        const control = controls.get(s.id)!;
        const wrong = s.id === field;
        control.toggleAttribute("aria-invalid", wrong);
        if (wrong) control.setAttribute("aria-invalid", "true");
        const note = form.querySelector(`#${control.id}-note`)!;
        note.textContent = wrong ? text : (hints.get(s.id) ?? s.hint ?? "");
        note.classList.toggle("error", wrong);
      }
    },
    suggest(list) {
      names.replaceChildren(...list.map((name) => el("option", { value: name })));
    },
  };
  share.append(...makeShare([
    ["link", () => `${location.href.split("#")[0]}${fragment(whatIf)}`],
    ["command", () => toCommand(whatIf.options(), file(), sizes)],
    ["JSON", () => text(false)],
    ["Markdown", () => text(true)],
  ], (text) => {
    // What cannot be copied is shown, to be copied by hand.
    said.textContent = text;
  }));
  reset.addEventListener("click", () => {
    whatIf.show(base);
    changed();
  });
  return whatIf;
}

/** With its `#`; nothing where nothing differs. */
export function fragment(whatIf: WhatIf): string {
  const text = whatIf.toFragment();
  return text && `#${text}`;
}

function make(s: Switch): Control {
  const id = `if-${s.id}`;
  const control =
    s.kind === "choice"
      ? el("select", {}, ...(s.choices ?? []).map(([value, text]) => el("option", { value }, text)))
      : el("input", { type: s.kind === "tick" ? "checkbox" : "text", spellcheck: "false", autocapitalize: "off" });
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-note`);
  if (s.placeholder) control.setAttribute("placeholder", s.placeholder);
  if (s.id === "gpu") control.setAttribute("list", "names");
  return control;
}
