// The switches: what would the answer be with another GPU, at another price? Each is an option of the request.

import { el } from "../dom";

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
  { id: "policy", label: "Arrays", kind: "choice", choices: [["", "stay on the GPU"], ["naive", "copied at each call"]] },
  { id: "runs_per_month", label: "Runs a month", kind: "text", placeholder: "one" },
  { id: "exclude_startup", label: "Leave start-up out", kind: "tick" },
  { id: "spot", label: "Spot prices", kind: "tick" },
];

type Control = HTMLInputElement | HTMLSelectElement;

export interface WhatIf {
  form: HTMLFormElement;
  /** The options as they are set, over those that the report was asked under. */
  options(): Options;
  /** Sets the switches to these options. */
  show(options: Options): void;
  /** Marks the switch that the engine refuses, with its words; `undefined` takes all marks away. */
  refuse(field: string | undefined, text: string): void;
  /** Names that the GPU field suggests. */
  suggest(names: readonly string[]): void;
}

/** What the command is asked for these options; each has a flag of its name. */
export function toCommand(options: Options): string {
  const words = ["breakeven", "show", "FILE"];
  for (const [id, value] of Object.entries(options)) {
    // Lists of nothing, what is off, and the drawing, which is the page's own wish.
    const text = Array.isArray(value) ? value.join(",") : value;
    if (text === null || text === undefined || text === false || text === "" || id === "timeline") continue;
    words.push(`--${id.replaceAll("_", "-")}`);
    if (text !== true) words.push(quoted(String(text)));
  }
  return words.join(" ");
}

const quoted = (word: string) => (/^[\w.,:/%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Makes the form; `changed` is called when a switch is. */
export function makeWhatIf(changed: () => void): WhatIf {
  const controls = new Map<string, Control>();
  const given = new Map<string, string>();
  let base: Options = {};
  const names = el("datalist", { id: "names" });
  const fields = SWITCHES.map((s) => {
    const control = make(s);
    controls.set(s.id, control);
    const label = el("label", { for: control.id }, s.label);
    const note = el("small", { id: `${control.id}-note` }, s.hint ?? "");
    return el("div", { class: `field ${s.kind}` }, label, control, note);
  });
  const reset = el("button", { type: "button" }, "As recorded");
  const copy = el("button", { type: "button" }, "Copy command");
  const said = el("p", { class: "soft command", role: "status" });
  const form = el("form", { class: "what-if", "aria-label": "What if", autocomplete: "off" },
    el("h2", {}, "What if"), el("div", { class: "fields" }, ...fields, el("div", { class: "field buttons" }, reset, copy)), said, names);
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
        else if (s.id === "gpu") options[s.id] = text.split(",").map((name) => name.trim()).filter((name) => name !== "");
        else if (text === "") delete options[s.id];
        else options[s.id] = text;
      }
      return options;
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
    refuse(field, text) {
      for (const s of SWITCHES) {
        const control = controls.get(s.id)!;
        const wrong = s.id === field;
        control.toggleAttribute("aria-invalid", wrong);
        if (wrong) control.setAttribute("aria-invalid", "true");
        const note = form.querySelector(`#${control.id}-note`)!;
        note.textContent = wrong ? text : (s.hint ?? "");
        note.classList.toggle("error", wrong);
      }
    },
    suggest(list) {
      names.replaceChildren(...list.map((name) => el("option", { value: name })));
    },
  };
  copy.addEventListener("click", async () => {
    const command = toCommand(whatIf.options());
    // A page opened from disk may have no clipboard: then the command is shown, to be copied by hand.
    const copied = await navigator.clipboard?.writeText(command).then(() => true, () => false);
    said.textContent = copied ? `Copied: ${command}` : command;
  });
  reset.addEventListener("click", () => {
    whatIf.show(base);
    changed();
  });
  return whatIf;
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
