// Bars beside each other and bars of parts, drawn as SVG.

import { BOLD, fitted, svg } from "./svg";

/** `low` to `high` is marked by a thin line. */
export interface Bar { name: string; color: string; value: number; low: number; high: number; text: string }

/** One bar under the other, all on the scale of the longest. */
export function bars(of: readonly (Omit<Bar, "value" | "low" | "high"> & Partial<Bar>)[], width: number, note: string): SVGSVGElement {
  const [names, texts, row] = [46, 78, 28];
  const room = width - names - texts;
  const longest = Math.max(...of.map((b) => Math.max(b.value ?? 0, b.high ?? 0)));
  const height = of.length * row + 16;
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  of.forEach((b, i) => {
    const y = i * row;
    out.append(
      svg("text", { x: 0, y: y + 17, class: "name" }, b.name),
      svg("rect", { x: names, y: y + 1, width: room, height: row - 6, rx: 4, class: "track" }),
      svg("text", { x: width, y: y + 17, "text-anchor": "end", class: "figure" }, b.text),
    );
    if (b.value === undefined || !(longest > 0)) return;
    out.append(svg("rect", { x: names, y: y + 1, width: Math.max(2, (room * b.value) / longest), height: row - 6, rx: 4, class: b.color }));
    if (b.low !== undefined && b.high !== undefined && b.high > b.low) {
      const [from, to] = [names + (room * b.low) / longest, names + (room * b.high) / longest];
      out.append(svg("path", { d: `M${from} ${y + row / 2 - 2}H${to}M${from} ${y + 8}v8M${to} ${y + 8}v8`, class: "spread" }));
    }
  });
  out.append(svg("text", { x: names, y: height - 3, class: "soft" }, note));
  return out;
}

export interface Part { name: string; color: string; value: number; text: string }
export interface Stack { name: string; parts: readonly Part[]; text: string }

/** Bars of parts, all on the scale of the longest; the parts' names stand where there is room. */
export function stacks(of: readonly Stack[], width: number): SVGSVGElement {
  const row = 66;
  const height = of.length * row;
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const longest = Math.max(...of.map((s) => s.parts.reduce((sum, p) => sum + p.value, 0)));
  of.forEach((stack, i) => {
    const y = i * row;
    out.append(svg("text", { x: 0, y: y + 13, class: "title" }, fitted(`${stack.name}: ${stack.text}`, width, BOLD)));
    let x = 0;
    for (const part of stack.parts) {
      const length = (width * part.value) / longest;
      out.append(svg("rect", { x, y: y + 20, width: Math.max(1, length - 1.5), height: 22, class: part.color }, svg("title", {}, `${part.name} ${part.text}`)));
      const label = `${part.name} ${part.text}`;
      if (fitted(label, length - 4) === label) out.append(svg("text", { x, y: y + 56, class: "soft" }, label));
      x += length;
    }
  });
  return out;
}
