// A drawing with what belongs to it: its files, and its figures as a table for those who do not see it.

import { el, say } from "./dom";
import { asBitmap, asFile, download } from "./svg";

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

/** Buttons that save a drawing under a name, as they are when clicked. */
export function makeFiles(save: string, name: () => string, find: () => SVGSVGElement | null): HTMLElement {
  const button = (ending: string, make: (drawing: SVGSVGElement) => Promise<Blob>) => {
    const one = el("button", { type: "button" }, ending);
    one.addEventListener("click", async () => {
      const drawing = find();
      if (drawing) download(`${name()}.${ending.toLowerCase()}`, await make(drawing));
    });
    return one;
  };
  return el("span", { class: "files", role: "group", "aria-label": save }, `${save} `,
    button("PNG", asBitmap), " ", button("SVG", async (drawing) => new Blob([asFile(drawing)], { type: "image/svg+xml" })));
}

/** A place for a drawing, made anew when it is shown or its width changes. */
export interface Drawing { place: HTMLElement; show: (figure: Figure) => void; files: HTMLElement }

export function makeDrawing(save = "Save as"): Drawing {
  const place = el("div", { class: "drawing" });
  let shown: Figure | undefined;
  let width = 0;
  /** Dots of the screen for one of the drawing: letters grow with those of the page. */
  let zoom = 1;
  function draw(): void {
    if (!shown || width === 0) return;
    const drawing = shown.draw(width / zoom);
    drawing.setAttribute("width", String(width));
    drawing.setAttribute("height", String(drawing.viewBox.baseVal.height * zoom));
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", shown.says);
    place.replaceChildren(drawing);
  }
  new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    zoom = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    draw();
  }).observe(place);

  const files = makeFiles(save, () => shown?.name ?? "", () => place.querySelector("svg"));
  return {
    place,
    files,
    show(figure) {
      shown = figure;
      files.setAttribute("aria-label", `${save}: ${figure.name}`);
      draw();
    },
  };
}

/** A drawing with its files and, behind a fold that may be `open`, its figures; or a sentence on why there is none. */
export function makeFigure(body: HTMLElement, open = false): { show: (figure: Figure) => void; clear: (why: string) => void } {
  const drawing = makeDrawing();
  const table = el("div");
  const behind = el("details", { class: "data", open }, el("summary", {}, "The same as a table"), table);
  const whole = el("figure", { hidden: true }, drawing.place, drawing.files, behind);
  const why = el("p", { class: "known", hidden: true });
  body.append(whole, why);
  let data: Data | undefined;
  const tabulate = () => {
    if (data && behind.open) table.replaceChildren(dataTable(data));
  };
  behind.addEventListener("toggle", tabulate);
  const visible = (yes: boolean) => {
    whole.hidden = !yes;
    why.hidden = yes;
  };
  return {
    show(figure) {
      data = figure.data;
      visible(true);
      drawing.show(figure);
      tabulate();
    },
    clear(text) {
      say(why, text);
      visible(false);
    },
  };
}

/** Rows under their heads; what is wider than the screen scrolls. */
export function dataTable(data: Data): HTMLElement {
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": data.caption }, plainTable(data));
}

/** Rows under their heads. */
export function plainTable(data: Data): HTMLElement {
  const row = ([first, ...rest]: readonly string[]) =>
    el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...rest.map((text) => el("td", {}, text)));
  return el("table", { class: "small" },
    el("caption", {}, data.caption),
    el("thead", {}, el("tr", {}, ...data.head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...data.rows.map(row)));
}
