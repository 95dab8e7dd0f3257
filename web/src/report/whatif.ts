// The switches: what would the answer be with another GPU, at another price? Each is an option of the request.

import { el } from "../dom";

export type Options = Record<string, unknown>;

interface Switch {
  id: string;
  label: string;
  /** The command's flag. */
  flag: string;
  kind: "text" | "tick" | "choice";
  choices?: readonly (readonly [string, string])[];
  placeholder?: string;
  hint?: string;
}

const SWITCHES: readonly Switch[] = [
  { id: "gpu", label: "GPU", flag: "--gpu", kind: "text", placeholder: "all of them", hint: "several apart by commas" },
  { id: "price", label: "Price of a GPU", flag: "--price", kind: "text", placeholder: "of the catalogue", hint: "$/h" },
  { id: "precision", label: "Precision", flag: "--precision", kind: "choice", choices: [["", "as recorded"], ["fp64", "fp64, double"], ["fp32", "fp32, single"], ["tf32", "fp32, products in tf32"], ["bf16", "fp32, products in bf16"]] },
  { id: "size", label: "Size of the problem", flag: "--size", kind: "text", placeholder: "1", hint: "times the recorded one" },
  { id: "policy", label: "Arrays", flag: "--policy", kind: "choice", choices: [["", "stay on the GPU"], ["naive", "copied at each call"]] },
  { id: "runs_per_month", label: "Runs a month", flag: "--runs-per-month", kind: "text", placeholder: "one" },
  { id: "exclude_startup", label: "Leave start-up out", flag: "--exclude-startup", kind: "tick" },
  { id: "spot", label: "Spot prices", flag: "--spot", kind: "tick" },
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
  const form = el("form", { class: "what-if", "aria-label": "What if", autocomplete: "off" },
    el("h2", {}, "What if"), el("div", { class: "fields" }, ...fields, el("div", { class: "field" }, reset)), names);
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
