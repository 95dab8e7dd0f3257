// Copying the answer: link, command line, JSON, Markdown.

import { byId, el, say } from "./dom";

/** What can be copied, made when it is asked for. */
export type Copies = readonly (readonly [string, () => string])[];

/** Makes a button for each. */
export function makeShare(copies: Copies): void {
  for (const [name, make] of copies) {
    const button = el("button", { type: "button" }, `Copy ${name}`);
    button.addEventListener("click", async () => {
      await copy(make());
      say(button, "Copied");
      say(byId("live"), `${name} copied`);
      setTimeout(() => say(button, `Copy ${name}`), 1500);
    });
    byId("share").append(button);
  }
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from disk may have no clipboard of its own; a selection can still be copied.
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
