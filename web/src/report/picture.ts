// Drawings for files, of what the screen shows otherwise: HTML with shapes in it, and what a canvas is told to draw.

import { svg } from "../svg";

const TEXT = { "font-family": "system-ui, sans-serif" };

/** A drawing of what stands there: its grounds, shapes and texts, where and as they are now. */
export function pictured(place: Element): SVGSVGElement {
  const box = place.getBoundingClientRect();
  const out = svg("svg", { width: box.width, height: box.height, viewBox: `0 0 ${box.width} ${box.height}` });
  const rect = (r: DOMRect, fill: string) => out.append(svg("rect", { x: r.x - box.x, y: r.y - box.y, width: r.width, height: r.height, fill }));
  for (const node of place.querySelectorAll(".track, .key, rect")) {
    const style = getComputedStyle(node);
    rect(node.getBoundingClientRect(), node instanceof SVGRectElement ? style.fill : style.backgroundColor);
  }
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    const style = getComputedStyle(text.parentElement!);
    for (const { words, at } of lines(text)) {
      const height = parseFloat(style.fontSize);
      out.append(svg("text", { x: at.x - box.x, y: at.y - box.y + at.height / 2 + 0.35 * height, fill: style.color, "font-size": height, "font-weight": style.fontWeight, ...TEXT }, words));
    }
  }
  return out;
}

/** The words of a text by the line that they stand on. */
function lines(text: Text): { words: string; at: DOMRect }[] {
  const out: { words: string; at: DOMRect }[] = [];
  const range = document.createRange();
  for (const match of text.data.matchAll(/\S+/g)) {
    range.setStart(text, match.index);
    range.setEnd(text, match.index + match[0].length);
    const at = range.getBoundingClientRect();
    const last = out.at(-1);
    if (last && Math.abs(last.at.y - at.y) < 2) last.words += ` ${match[0]}`;
    else if (at.width > 0) out.push({ words: match[0], at });
  }
  return out;
}

/** What the timeline needs of whom it draws with: a canvas has all of it. */
export type Pen = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "textAlign" | "fillRect" | "fillText" | "beginPath" | "moveTo" | "lineTo" | "stroke" | "save" | "restore" | "rect" | "clip">;

/** Draws as SVG what a canvas would show; letters are those of the timeline. */
export function svgPen(width: number, height: number): { pen: Pen; drawn: SVGSVGElement } {
  const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const within = [drawn];
  let [d, window]: [string, number[]] = ["", []];
  const put = (node: SVGElement) => within.at(-1)!.append(node);
  const pen: Pen = {
    fillStyle: "", strokeStyle: "", textAlign: "start",
    fillRect: (x, y, width, height) => put(svg("rect", { x, y, width, height, fill: String(pen.fillStyle) })),
    fillText: (text, x, y) => put(svg("text", { x, y: y + 4, fill: String(pen.fillStyle), "font-size": 12, "text-anchor": pen.textAlign === "center" ? "middle" : "start", ...TEXT }, text)),
    beginPath: () => void ([d, window] = ["", []]),
    moveTo: (x, y) => void (d += `M${x} ${y}`),
    lineTo: (x, y) => void (d += `L${x} ${y}`),
    stroke: () => put(svg("path", { d, stroke: String(pen.strokeStyle) })),
    save: () => void within.push(within.at(-1)!),
    restore: () => void within.pop(),
    rect: (...at) => void (window = at),
    // A drawing in a drawing shows what is within its edges.
    clip: () => {
      const [x, y, width, height] = window as [number, number, number, number];
      const inner = svg("svg", { x, y, width, height, viewBox: window.join(" ") });
      put(inner);
      within[within.length - 1] = inner;
    },
  };
  return { pen, drawn };
}
