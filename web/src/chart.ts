// Lines over two axes, drawn as SVG: a drawing that prints, scales and saves as it is.

import { scale, type Axis, type Scale } from "./axis";
import { makeReadout } from "./readout";
import { BOLD, CHARACTER, fitted, svg } from "./svg";

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

export interface Chart {
  title: string;
  x: Axis;
  y: Axis;
  lines: readonly Line[];
  marks: readonly Mark[];
  /** What the pointer reads at the x of a point. */
  read?: (x: number) => string[];
}

const RIGHT = 14;
const TITLE = 20;
const BOTTOM = 44;
const ROW = 15;

/** Where everything lies, in dots. */
interface Place { x: Scale; y: Scale; left: number; right: number; top: number; bottom: number; width: number }

/** The chart, `width` dots wide. */
export function chart(what: Chart, width: number): SVGSVGElement {
  const keys = legend(what.lines.filter((line) => !line.aside), width);
  const points = what.lines.flatMap((line) => line.points);
  const [dots, posts] = [what.marks.filter((m) => m.y !== undefined), what.marks.filter((m) => m.y === undefined)];
  const ys = [...points.flatMap((p) => [p.y, p.low, p.high]), ...dots.flatMap((m) => [m.y, m.low, m.high])];
  const right = width - RIGHT;
  const left = CHARACTER * Math.max(...scale(what.y, ys, 1, 0).ticks.map((value) => what.y.text(value).length)) + 10;
  const x = scale(what.x, [...points.map((p) => p.x), ...what.marks.map((m) => m.x)], left, right);
  const rows = stacked(posts.map((m) => ({ middle: inside(x.at(m.x), m.text, width), text: m.text })));
  const top = TITLE + keys.height + ROW * (Math.max(-1, ...rows) + 1) + 6;
  const height = Math.round(Math.min(420, Math.max(230, 0.5 * width))) + top;
  const place: Place = { x, y: scale(what.y, ys, height - BOTTOM, top), left, right, top, bottom: height - BOTTOM, width };

  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  out.append(
    svg("text", { x: 0, y: 13, class: "title" }, fitted(what.title, width, BOLD)),
    keys.drawn,
    ...grid(what, place),
    svg("text", { x: right, y: height - 8, "text-anchor": "end", class: "soft" }, fitted(what.x.title, width)),
    ...bands(what.lines, place),
    ...strokes(what.lines, place),
    ...asides(what.lines.filter((line) => line.aside), place),
    ...posts.flatMap((mark, i) => post(mark, TITLE + keys.height + ROW * rows[i]! + 12, place)),
    ...dots.flatMap((mark) => dot(mark, place)),
  );
  const { read } = what;
  if (read) {
    const most = what.lines.reduce<readonly Point[]>((a, line) => (!line.aside && line.points.length > a.length ? line.points : a), []);
    makeReadout(out, most.map((p) => ({ at: x.at(p.x), lines: read(p.x) })), width, top, place.bottom);
  }
  return out;
}

/** A rule and a name for each round value; names on the x axis only as close as they are readable. */
function grid(what: Chart, { x, y, left, right, top, bottom, width }: Place): Node[] {
  const across = y.ticks.flatMap((value) => [
    svg("line", { x1: left, x2: right, y1: y.at(value), y2: y.at(value), class: "rule" }),
    svg("text", { x: left - 6, y: y.at(value) + 4, "text-anchor": "end" }, what.y.text(value)),
  ]);
  const longest = Math.max(0, ...x.ticks.map((value) => what.x.text(value).length));
  const every = Math.max(1, Math.ceil((x.ticks.length * (longest + 2) * CHARACTER) / (right - left)));
  const down = x.ticks.flatMap((value, i) => {
    const rule = svg("line", { x1: x.at(value), x2: x.at(value), y1: top, y2: bottom, class: "rule" });
    const text = what.x.text(value);
    return i % every === 0 ? [rule, svg("text", { x: inside(x.at(value), text, width), y: bottom + 15, "text-anchor": "middle" }, text)] : [rule];
  });
  return [...across, ...down];
}

/** The intervals of lines that have them. */
function bands(lines: readonly Line[], { x, y }: Place): Node[] {
  return lines.flatMap((line) => {
    const known = line.points.filter((p) => p.low !== undefined && p.high !== undefined && p.high > p.low);
    if (known.length < 2) return [];
    const highs = known.map((p) => [x.at(p.x), y.at(p.high!)] as const);
    const lows = known.map((p) => [x.at(p.x), y.at(p.low!)] as const).reverse();
    return [svg("path", { d: `${path([...highs, ...lows])}Z`, class: `band ${line.color}` })];
  });
}

function strokes(lines: readonly Line[], { x, y }: Place): Node[] {
  return lines.flatMap((line) =>
    pieces(line.points).map((piece) => stroke(line, path(piece.map((p) => [x.at(p.x), y.at(p.y!)])))));
}

function stroke(line: Line, d: string): SVGPathElement {
  return svg("path", { d, class: `line ${line.color}`, ...(line.dashes && { "stroke-dasharray": line.dashes }) });
}

/** Names at the right end of lines; one that would cover another is left out. */
function asides(lines: readonly Line[], { y, right }: Place): Node[] {
  const taken: number[] = [];
  return lines.flatMap((line) => {
    const up = y.at(line.points.at(-1)?.y ?? 0);
    if (taken.some((other) => Math.abs(other - up) < 13)) return [];
    taken.push(up);
    return [svg("text", { x: right - 4, y: up - 4, "text-anchor": "end", class: "halo" }, line.name)];
  });
}

/** A place on the x axis: a line through the plane, named above it. */
function post(mark: Mark, up: number, { x, bottom, width }: Place): Node[] {
  const at = x.at(mark.x);
  return [
    svg("line", { x1: at, x2: at, y1: up + 4, y2: bottom, class: "mark", "stroke-dasharray": mark.dashes ?? "2 3" }),
    svg("text", { x: inside(at, mark.text, width), y: up, "text-anchor": "middle", class: "soft" }, mark.text),
  ];
}

/** A point of the plane with its interval and its name. */
function dot(mark: Mark, { x, y, top, width }: Place): Node[] {
  const [at, up, color] = [x.at(mark.x), y.at(mark.y!), mark.color ?? "gpu"];
  const interval = mark.low !== undefined && mark.high !== undefined && mark.high > mark.low
    ? [svg("path", { d: `M${at} ${y.at(mark.low)}V${y.at(mark.high)}`, class: `line ${color}` })]
    : [];
  return [
    ...interval,
    svg("circle", { cx: at, cy: up, r: 5.5, class: `dot ${color}` }),
    svg("text", { x: inside(at, mark.text, width, BOLD), y: up > top + 24 ? up - 11 : up + 20, "text-anchor": "middle", class: "strong halo" }, mark.text),
  ];
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
    drawn.append(stroke(line, `M${x} ${y}h28`), svg("text", { x: x + 34, y: y + 4 }, fitted(line.name, width - 34)));
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
