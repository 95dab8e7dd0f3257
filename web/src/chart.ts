// Lines over two axes, drawn as SVG: a drawing that prints, scales and saves as it is.

import { BOLD, CHARACTER, fitted, svg } from "./svg";

export interface Axis {
  title: string;
  /** Tenfold steps are as wide as each other. */
  log: boolean;
  /** A value as people read it. */
  text: (value: number) => string;
}

/** `low` to `high` is shaded; a point without `y` breaks the line. */
export interface Point { x: number; y: number | null; low?: number; high?: number }

export interface Line {
  name: string;
  /** One of the colours of `page.css`, such as `gpu`. */
  color: string;
  /** Told apart without colour, too. */
  dashes?: string;
  /** Named at its right end, not above the drawing. */
  aside?: boolean;
  points: readonly Point[];
}

/** A place on the x axis or, with `y`, a point of the plane; `low` to `high` is its interval. */
export interface Mark { x: number; y?: number; low?: number; high?: number; text: string; dashes?: string; color?: string }

export interface Chart { title: string; x: Axis; y: Axis; lines: readonly Line[]; marks: readonly Mark[] }

const RIGHT = 14;
const TITLE = 20;
const BOTTOM = 44;

/** The chart, `width` dots wide. */
export function chart(what: Chart, width: number): SVGSVGElement {
  const keys = legend(what.lines.filter((line) => !line.aside), width);
  const points = what.lines.flatMap((line) => line.points);
  const [dots, posts] = [what.marks.filter((m) => m.y !== undefined), what.marks.filter((m) => m.y === undefined)];
  const ys = [...points.flatMap((p) => [p.y, p.low, p.high]), ...dots.flatMap((m) => [m.y, m.low, m.high])];
  const left = CHARACTER * Math.max(...scale(what.y, ys, 1, 0).ticks.map((value) => what.y.text(value).length)) + 10;
  const x = scale(what.x, [...points.map((p) => p.x), ...what.marks.map((m) => m.x)], left, width - RIGHT);
  const rows = stacked(posts.map((m) => ({ middle: inside(x.at(m.x), m.text, width), text: m.text })));
  const top = TITLE + keys.height + 15 * (Math.max(-1, ...rows) + 1) + 6;
  const height = Math.round(Math.min(420, Math.max(230, 0.5 * width))) + top;
  const y = scale(what.y, ys, height - BOTTOM, top);
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  out.append(svg("text", { x: 0, y: 13, class: "title" }, fitted(what.title, width, BOLD)), keys.drawn);

  for (const value of y.ticks) {
    out.append(
      svg("line", { x1: left, x2: width - RIGHT, y1: y.at(value), y2: y.at(value), class: "rule" }),
      svg("text", { x: left - 6, y: y.at(value) + 4, "text-anchor": "end" }, what.y.text(value)),
    );
  }
  const every = Math.ceil((x.ticks.length * 8 * CHARACTER * 1.3) / (width - left - RIGHT));
  x.ticks.forEach((value, i) => {
    const at = x.at(value);
    out.append(svg("line", { x1: at, x2: at, y1: top, y2: height - BOTTOM, class: "rule" }));
    if (i % every === 0) {
      const half = (what.x.text(value).length * CHARACTER) / 2;
      out.append(svg("text", { x: Math.min(at, width - half), y: height - BOTTOM + 15, "text-anchor": "middle" }, what.x.text(value)));
    }
  });
  out.append(svg("text", { x: width - RIGHT, y: height - 8, "text-anchor": "end", class: "soft" }, fitted(what.x.title, width)));

  for (const line of what.lines) {
    const band = line.points.filter((p) => p.low !== undefined && p.high !== undefined && p.high > p.low);
    if (band.length > 1) {
      const around = [...band.map((p) => [p.x, p.high!]), ...[...band].reverse().map((p) => [p.x, p.low!])] as [number, number][];
      out.append(svg("path", { d: `${path(around.map(([a, b]) => [x.at(a), y.at(b)]))}Z`, class: `band ${line.color}` }));
    }
  }
  for (const line of what.lines) {
    for (const piece of pieces(line.points)) {
      const drawn = svg("path", { d: path(piece.map((p) => [x.at(p.x), y.at(p.y!)])), class: `line ${line.color}` });
      if (line.dashes) drawn.setAttribute("stroke-dasharray", line.dashes);
      out.append(drawn);
    }
  }
  const named: number[] = [];
  for (const line of what.lines.filter((line) => line.aside)) {
    const end = line.points.at(-1);
    const up = end ? y.at(end.y ?? 0) : 0;
    if (!end || named.some((other) => Math.abs(other - up) < 13)) continue;
    named.push(up);
    out.append(svg("text", { x: width - RIGHT - 4, y: up - 4, "text-anchor": "end", class: "halo" }, line.name));
  }
  posts.forEach((mark, i) => {
    const at = x.at(mark.x);
    const row = TITLE + keys.height + 15 * rows[i]! + 12;
    out.append(
      svg("line", { x1: at, x2: at, y1: row + 4, y2: height - BOTTOM, class: "mark", "stroke-dasharray": mark.dashes ?? "2 3" }),
      svg("text", { x: inside(at, mark.text, width), y: row, "text-anchor": "middle", class: "soft" }, mark.text),
    );
  });
  for (const mark of dots) {
    const [at, up] = [x.at(mark.x), y.at(mark.y!)];
    if (mark.low !== undefined && mark.high !== undefined && mark.high > mark.low) {
      out.append(svg("path", { d: `M${at} ${y.at(mark.low)}V${y.at(mark.high)}`, class: `line ${mark.color ?? "gpu"}` }));
    }
    out.append(
      svg("circle", { cx: at, cy: up, r: 5.5, class: `dot ${mark.color ?? "gpu"}` }),
      svg("text", { x: inside(at, mark.text, width, BOLD), y: up > top + 24 ? up - 11 : up + 20, "text-anchor": "middle", class: "strong halo" }, mark.text),
    );
  }
  return out;
}

/** From values to dots, and the values that the axis names. */
interface Scale { at: (value: number) => number; ticks: number[] }

/** An axis from `from` to `to` that holds all `values`. */
export function scale(axis: Axis, values: readonly (number | null | undefined)[], from: number, to: number): Scale {
  const known = values.filter((v): v is number => typeof v === "number" && Number.isFinite(v) && (!axis.log || v > 0));
  const bend = axis.log ? Math.log10 : (v: number) => v;
  let low = bend(known.reduce((a, b) => Math.min(a, b), Infinity));
  let high = bend(known.reduce((a, b) => Math.max(a, b), -Infinity));
  if (!axis.log) low = Math.min(low, 0);
  if (!(low < high)) [low, high] = Number.isFinite(low) ? [low - 0.5, high + 0.5] : [0, 1];
  const at = (v: number) => {
    const share = ((v > 0 || !axis.log ? bend(v) : low) - low) / (high - low);
    return from + (to - from) * Math.min(1, Math.max(0, share));
  };
  return { at, ticks: axis.log ? decades(low, high) : steps(low, high) };
}

/** Powers of ten between two exponents, at most nine; 1, 2 and 5 where there are fewer than two. */
function decades(low: number, high: number): number[] {
  const every = Math.max(1, Math.ceil((high - low) / 8));
  const out: number[] = [];
  for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e++) if (e % every === 0) out.push(10 ** e);
  if (out.length >= 2) return out;
  for (let e = Math.floor(low); e <= high; e++) {
    for (const m of [1, 2, 5]) if (Math.log10(m) + e >= low && Math.log10(m) + e <= high) out.push(Number(`${m}e${e}`));
  }
  return [...new Set(out)].sort((a, b) => a - b);
}

/** About five round values from `low` to `high`. */
function steps(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * ([1, 2, 5, 10].find((m) => m * ten >= rough) ?? 10);
  const out: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high * (1 + 1e-9); n++) out.push(Number((n * step).toPrecision(12)));
  return out;
}

/** The runs of points that have a `y`. */
function pieces(points: readonly Point[]): Point[][] {
  const out: Point[][] = [[]];
  for (const p of points) {
    if (p.y === null) out.push([]);
    else out.at(-1)!.push(p);
  }
  return out.filter((piece) => piece.length > 1);
}

function path(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** Each line's stroke beside its name, in as many rows as it takes. */
function legend(lines: readonly Line[], width: number): { drawn: SVGGElement; height: number } {
  const drawn = svg("g");
  let [x, row] = [0, 0];
  for (const line of lines) {
    const room = 34 + line.name.length * CHARACTER + 16;
    if (x > 0 && x + room > width) [x, row] = [0, row + 1];
    const y = TITLE + 18 * row + 10;
    const stroke = svg("path", { d: `M${x} ${y}h28`, class: `line ${line.color}` });
    if (line.dashes) stroke.setAttribute("stroke-dasharray", line.dashes);
    drawn.append(stroke, svg("text", { x: x + 34, y: y + 4 }, fitted(line.name, width - 34)));
    x += room;
  }
  return { drawn, height: 18 * (row + 1) };
}

/** For each label the first row where it covers none of those before it. */
function stacked(labels: readonly { middle: number; text: string }[]): number[] {
  const taken: [number, number, number][] = [];
  return labels.map(({ middle, text }) => {
    const half = (text.length * CHARACTER) / 2 + 6;
    let row = 0;
    while (taken.some(([r, from, to]) => r === row && from < middle + half && to > middle - half)) row++;
    taken.push([row, middle - half, middle + half]);
    return row;
  });
}

/** The middle of a text near `at` that stays within the drawing. */
function inside(at: number, text: string, width: number, letter = CHARACTER): number {
  const half = (text.length * letter) / 2;
  return Math.max(half, Math.min(at, width - half - 2));
}
