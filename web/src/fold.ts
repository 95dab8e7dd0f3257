// Parts of the page that are drawn only while they are open.

import { byId, el } from "./dom";

export interface Fold {
  id: string;
  body: HTMLElement;
  details: HTMLDetailsElement;
  /** Draws the answer's part now and whenever it is opened; nothing where the answer has none. */
  show: (draw: (() => void) | undefined) => void;
}

/** A part that is folded away at first; `toggled` is called when it is opened or closed. */
export function makeFold(id: string, title: string, says: string, toggled: () => void): Fold {
  const body = el("div", { class: "body" });
  const details = el("details", { id, class: "fold" }, el("summary", {}, el("h2", {}, title), " ", el("span", { class: "known" }, says)), body);
  let latest = () => {};
  details.addEventListener("toggle", () => {
    if (details.open) latest();
    toggled();
  });
  byId("more").append(details);
  return {
    id,
    body,
    details,
    show(draw) {
      details.hidden = draw === undefined;
      latest = draw ?? (() => {});
      if (details.open) latest();
    },
  };
}

/** Opens these while the page is printed, as paper has no folds; closes them again afterwards. */
export function openForPrint(folds: () => readonly HTMLDetailsElement[]): void {
  let opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    opened = folds().filter((fold) => !fold.open);
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
}
