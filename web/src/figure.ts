// A drawing with what belongs to it: its files, and its figures as a table for those who do not see it.

import { el, say } from "./dom";
import { asBitmap, asFile, save } from "./svg";

/** Column heads, and rows whose first cell names them. */
export interface Data { caption: string; head: readonly string[]; rows: readonly (readonly string[])[] }

export interface Figure {
  /** Of its files, without ending. */
  name: string;
  /** What it shows, in one sentence. */
  says: string;
  /** Draws it as wide as that, in dots. */
  draw: (width: number) => SVGSVGElement;
  data: Data;
}

/** A place for a figure, drawn anew when it is shown or its width changes. */
export function makeFigure(body: HTMLElement): { show: (figure: Figure) => void; clear: (why: string) => void } {
  const place = el("div", { class: "drawing" });
  const table = el("div");
  const behind = el("details", { class: "data" }, el("summary", {}, "The same as a table"), table);
  const file = (ending: string, make: (drawing: SVGSVGElement) => Promise<Blob>) => {
    const button = el("button", { type: "button" }, ending);
    button.addEventListener("click", async () => {
      const drawing = place.querySelector("svg");
      if (drawing && shown) save(`${shown.name}.${ending.toLowerCase()}`, await make(drawing));
    });
    return button;
  };
  const files = el("p", { class: "files", role: "group", "aria-label": "Save the drawing" }, "Save as ",
    file("PNG", asBitmap), " ", file("SVG", async (drawing) => new Blob([asFile(drawing)], { type: "image/svg+xml" })));
  const why = el("p", { class: "known", hidden: true });
  body.append(el("figure", {}, why, place, files, behind));

  let shown: Figure | undefined;
  let width = 0;
  function draw(): void {
    if (!shown || width === 0) return;
    const drawing = shown.draw(width);
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", shown.says);
    place.replaceChildren(drawing);
  }
  function tabulate(): void {
    if (shown && behind.open) table.replaceChildren(dataTable(shown.data));
  }
  function visible(yes: boolean): void {
    for (const part of [place, files, behind]) part.hidden = !yes;
    why.hidden = yes;
  }
  behind.addEventListener("toggle", tabulate);
  new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    draw();
  }).observe(place);

  return {
    show(figure) {
      shown = figure;
      visible(true);
      files.setAttribute("aria-label", `Save the drawing: ${figure.name}`);
      draw();
      tabulate();
    },
    clear(text) {
      shown = undefined;
      say(why, text);
      visible(false);
    },
  };
}

/** Rows under their heads; what is wider than the screen scrolls. */
export function dataTable(data: Data): HTMLElement {
  const row = ([first, ...rest]: readonly string[]) =>
    el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...rest.map((text) => el("td", {}, text)));
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": data.caption },
    el("table", { class: "small" },
      el("caption", {}, data.caption),
      el("thead", {}, el("tr", {}, ...data.head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...data.rows.map(row))));
}
