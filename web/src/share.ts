// Sharing the answer: link, command line, JSON, Markdown, print.

import { byId, el, say } from "./dom";

/** What can be copied, made when it is asked for. */
export type Copies = readonly (readonly [string, () => string | Promise<string>])[];

/** A button for each, and one that prints; `failed` is told what could not be copied, to show it. */
export function makeShare(copies: Copies, failed: (text: string) => void = () => undefined): HTMLElement[] {
  const buttons = copies.map(([name, make]) => {
    const button = el("button", { type: "button" }, `Copy ${name}`);
    button.addEventListener("click", async () => {
      const text = await make();
      const copied = await copy(text);
      const done = copied ? "Copied" : "Could not copy";
      say(button, done);
      say(byId("live"), `${name}: ${done}`);
      if (!copied) failed(text);
      setTimeout(() => say(button, `Copy ${name}`), 1500);
    });
    return button;
  });
  const paper = el("button", { type: "button" }, "Print");
  paper.addEventListener("click", () => print());
  return [...buttons, paper];
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page opened from disk may have no clipboard of its own; a selection can still be copied.
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
