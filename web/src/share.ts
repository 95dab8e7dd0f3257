// Sharing the answer: link, command line, JSON, Markdown, print.

import { byId, el, say } from "./dom";

/** What can be copied, made when it is asked for. */
export type Copies = readonly (readonly [string, () => string])[];

/** Makes a button for each; `bars` saves the bars above. */
export function makeShare(copies: Copies, bars: HTMLElement): void {
  for (const [name, make] of copies) {
    const button = el("button", { type: "button" }, `Copy ${name}`);
    button.addEventListener("click", async () => {
      const done = (await copy(make())) ? "Copied" : "Could not copy";
      say(button, done);
      say(byId("live"), `${name}: ${done}`);
      setTimeout(() => say(button, `Copy ${name}`), 1500);
    });
    byId("share").append(button);
  }
  const paper = el("button", { type: "button" }, "Print");
  paper.addEventListener("click", () => print());
  byId("share").append(paper, bars);
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
