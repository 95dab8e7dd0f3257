// What the lines of a chart say where the pointer is.

import { CHARACTER, svg } from "./svg";

/** A place on the x axis, in dots, and what is to be read there. */
export interface Reading { at: number; lines: readonly string[] }

/** Shows the reading nearest to the pointer while it is over the drawing, between `top` and `bottom`. */
export function makeReadout(drawing: SVGSVGElement, readings: readonly Reading[], width: number, top: number, bottom: number): void {
  if (readings.length === 0) return;
  const shown = svg("g", { class: "readout", "aria-hidden": "true" });
  drawing.append(shown);
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const near = readings.reduce((a, b) => (Math.abs(b.at - x) < Math.abs(a.at - x) ? b : a));
    const room = Math.max(...near.lines.map((line) => line.length)) * CHARACTER + 16;
    const left = near.at + room + 8 < width ? near.at + 8 : near.at - room - 8;
    shown.replaceChildren(
      svg("line", { x1: near.at, x2: near.at, y1: top, y2: bottom, class: "mark" }),
      svg("rect", { x: left, y: top + 4, width: room, height: 16 * near.lines.length + 8, rx: 4, class: "paper" }),
      ...near.lines.map((line, i) => svg("text", { x: left + 8, y: top + 20 + 16 * i }, line)),
    );
  });
  drawing.addEventListener("pointerleave", () => shown.replaceChildren());
}
