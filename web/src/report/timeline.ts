// The timeline: who is busy when, zoomed and moved by wheel, mouse, fingers and keys. The engine holds it and gives what
// a window shows; what is drawn while it thinks is the last window, stretched.

import { el, say } from "../dom";
import { makeFiles } from "../figure";
import { svgPen, type Pen } from "./picture";
import type { Engine, Look, Window } from "./worker";

const ROW = 34;
const LEFT = 92;
const AXIS = 26;
/** Nothing is narrower: a tenth of a nanosecond across the whole drawing. */
const CLOSEST = 1e-10;
const COLORS = ["--startup", "--host", "--launch", "--sync", "--gpu", "--transfer", "--transfer"];

export interface Timeline {
  node: HTMLElement;
  /** Shows another timeline: that window of it, or all. */
  show(look: Look, window?: readonly [number, number]): void;
  /** From where to where it is looked at, s; nothing where all of it is. */
  window(): readonly [number, number] | undefined;
}

/** Makes it; `moved` is called when it is zoomed or moved. */
export function makeTimeline(engine: Engine, moved: () => void): Timeline {
  const canvas = el("canvas", {});
  const button = (text: string, label: string, act: () => void) => {
    const button = el("button", { type: "button", title: label }, text);
    if (text !== label) button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    return button;
  };
  const said = el("p", { class: "soft said", role: "status" });
  const stage = el("div", {
    class: "stage", tabindex: "0", role: "application",
    "aria-label": "Timeline of host, kernels and copies. Plus and minus zoom, left and right move, Home shows all.",
  }, canvas);
  const after = button("After start-up", "After start-up", () => look(began, span));
  const node = el("div", { class: "zoom" },
    stage,
    el("div", { class: "zooms", role: "group", "aria-label": "Zoom" },
      button("−", "Zoom out", () => zoom(2, 0.5)), button("+", "Zoom in", () => zoom(0.5, 0.5)),
      button("←", "Earlier", () => move(-0.25)), button("→", "Later", () => move(0.25)), button("Whole run", "Whole run", all), after),
    makeFiles("Save what is shown as", () => "timeline", picture), said);

  let rows: string[] = [];
  let span = 1;
  /** When start-up was over, s. */
  let began = 0;
  let view = { from: 0, to: 1 };
  let last: Window | undefined;
  let pointed: { x: number; y: number } | undefined;
  let frame = 0;
  let busy = false;
  let stale = true;
  let announce = 0;
  let colors: string[] = [];
  let ink = "", soft = "", line = "", raised = "", ground = "";

  function styles(): void {
    const style = getComputedStyle(node);
    const color = (name: string) => style.getPropertyValue(name).trim();
    colors = COLORS.map(color);
    [ink, soft, line, raised, ground] = ["--ink", "--soft", "--line", "--raised", "--ground"].map(color) as [string, string, string, string, string];
  }

  const width = () => Math.max(1, stage.clientWidth - LEFT);
  const height = () => rows.length * ROW + AXIS;
  const x = (at: number) => LEFT + ((at - view.from) / (view.to - view.from)) * width();

  /** Looks at this window, as far as there is something to see. */
  function look(from: number, to: number): void {
    const wide = Math.min(Math.max(to - from, CLOSEST), span);
    const begin = Math.min(Math.max(from, 0), span - wide);
    view = { from: begin, to: begin + wide };
    stale = true;
    schedule();
    moved();
  }

  /** `share` is where in the window the fixed point lies. */
  function zoom(by: number, share: number): void {
    const wide = view.to - view.from;
    const at = view.from + wide * share;
    const next = Math.min(Math.max(wide * by, CLOSEST), span);
    look(at - next * share, at + next * (1 - share));
  }

  function move(share: number): void {
    const by = (view.to - view.from) * share;
    look(view.from + by, view.to + by);
  }

  function all(): void {
    look(0, span);
  }

  function schedule(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
      void fetch();
    });
  }

  /** Asks the engine for the window as it is now; one question at a time, and the newest counts. */
  async function fetch(): Promise<void> {
    if (busy || !stale) return;
    busy = true;
    stale = false;
    try {
      last = await engine.ask("window", view.from, view.to, Math.min(2000, Math.ceil(width())), ticks());
      clearTimeout(announce);
      const words = last.said;
      announce = setTimeout(() => say(said, words), 400);
    } finally {
      busy = false;
      schedule();
    }
  }

  /** Round moments, some hundred pixels apart. */
  function ticks(): number[] {
    const wide = view.to - view.from;
    const least = (wide * 110) / width();
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least)!;
    const first = Math.ceil(view.from / step);
    const count = Math.floor(view.to / step) - first + 1;
    return Array.from({ length: Math.max(0, Math.min(count, 60)) }, (_, i) => (first + i) * step);
  }

  function draw(): void {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [stage.clientWidth, height()];
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    const g = canvas.getContext("2d");
    if (!g) return;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    paint(g, w, h);
    if (last) drawPointed(g, last);
  }

  /** The same for a file: what is shown, without what the pointer reads. */
  function picture(): SVGSVGElement {
    const { pen, drawn } = svgPen(stage.clientWidth, height());
    paint(pen, stage.clientWidth, height());
    return drawn;
  }

  function paint(g: Pen, w: number, h: number): void {
    rows.forEach((name, row) => {
      if (row % 2 === 0) {
        g.fillStyle = raised;
        g.fillRect(LEFT, row * ROW, w - LEFT, ROW);
      }
      g.fillStyle = ink;
      g.fillText(name, 0, row * ROW + ROW / 2);
    });
    if (last) {
      g.save();
      g.beginPath();
      g.rect(LEFT, 0, w - LEFT, h);
      g.clip();
      drawTicks(g, last);
      if (last.pieces.length > 0) drawPieces(g, last);
      else drawShares(g, last);
      g.restore();
    }
  }

  function drawTicks(g: Pen, window: Window): void {
    // The moments belong to the window that was asked for; while another is on its way they stay where they were.
    const known = window.from === view.from && window.to === view.to ? ticks() : [];
    g.strokeStyle = line;
    g.fillStyle = soft;
    g.textAlign = "center";
    known.forEach((at, i) => {
      const place = Math.round(x(at)) + 0.5;
      g.beginPath();
      g.moveTo(place, 0);
      g.lineTo(place, rows.length * ROW);
      g.stroke();
      g.fillText(window.ticks[i] ?? "", Math.min(Math.max(place, LEFT + 30), LEFT + width() - 30), rows.length * ROW + AXIS / 2);
    });
    g.textAlign = "start";
  }

  function drawShares(g: Pen, window: Window): void {
    const columns = window.shares.length / rows.length;
    const step = (window.to - window.from) / columns;
    for (let row = 0; row < rows.length; row++) {
      g.fillStyle = colors[row]!;
      const bottom = (row + 1) * ROW - 3;
      for (let column = 0; column < columns; column++) {
        const share = window.shares[row * columns + column]!;
        if (share <= 0) continue;
        const left = x(window.from + step * column);
        const right = x(window.from + step * (column + 1));
        const high = Math.max(1, share * (ROW - 6));
        g.fillRect(left, bottom - high, Math.max(right - left, 0.5), high);
      }
    }
  }

  function drawPieces(g: Pen, window: Window): void {
    for (let i = 0; i < window.pieces.length; i += 4) {
      const [row, start, length, task] = window.pieces.subarray(i, i + 4) as unknown as [number, number, number, number];
      const left = Math.max(x(start), LEFT - 2);
      const wide = Math.min(x(start + length), LEFT + width() + 2) - left;
      if (wide < 0) continue;
      g.fillStyle = colors[row]!;
      g.fillRect(left, row * ROW + 4, Math.max(wide - (wide > 3 ? 1 : 0), 0.7), ROW - 8);
      if (wide < 50) continue;
      g.save();
      g.beginPath();
      g.rect(left, row * ROW, wide - 4, ROW);
      g.clip();
      // The ground's color stands out from every row's but the first, which is pale.
      g.fillStyle = row === 0 ? ink : ground;
      g.fillText(window.names.get(task) || rows[row]!, left + 5, row * ROW + ROW / 2);
      g.restore();
    }
  }

  function drawPointed(g: CanvasRenderingContext2D, window: Window): void {
    if (!pointed) return;
    const row = Math.floor(pointed.y / ROW);
    if (row < 0 || row >= rows.length || pointed.x < LEFT) return;
    const at = view.from + ((pointed.x - LEFT) / width()) * (view.to - view.from);
    let text = "";
    for (let i = 0; i < window.pieces.length; i += 4) {
      const [r, start, length, task] = window.pieces.subarray(i, i + 4) as unknown as [number, number, number, number];
      if (r === row && at >= start && at <= start + length) text = `${window.names.get(task) || rows[row]} · ${window.lengths[i / 4]}`;
    }
    if (text === "") return;
    const wide = g.measureText(text).width + 12;
    const left = Math.min(Math.max(pointed.x - wide / 2, LEFT), LEFT + width() - wide);
    const top = row === 0 ? ROW + 4 : row * ROW - 22;
    g.fillStyle = ink;
    g.fillRect(left, top, wide, 20);
    g.fillStyle = raised;
    g.fillText(text, left + 6, top + 10);
  }

  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), "−": () => zoom(2, 0.5),
      ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), Home: all, "0": all,
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // A wheel over the drawing zooms once somebody works with it; before, the page scrolls on.
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !stage.contains(document.activeElement)) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / width());
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), (event.offsetX - LEFT) / width());
  }, { passive: false });

  const fingers = new Map<number, number>();
  stage.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event.offsetX);
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    pointed = { x: event.offsetX, y: event.offsetY };
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      schedule();
      return;
    }
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, event.offsetX);
    if (other === undefined) move((before - event.offsetX) / width());
    else if (Math.abs(event.offsetX - other) > 5) {
      zoom(Math.abs(before - other) / Math.abs(event.offsetX - other), ((event.offsetX + other) / 2 - LEFT) / width());
    }
  });
  const lift = (event: PointerEvent) => fingers.delete(event.pointerId);
  stage.addEventListener("pointerup", lift);
  stage.addEventListener("pointercancel", lift);
  stage.addEventListener("pointerleave", () => {
    pointed = undefined;
    schedule();
  });
  stage.addEventListener("dblclick", (event) => zoom(0.25, (event.offsetX - LEFT) / width()));

  const again = () => {
    styles();
    stale = true;
    schedule();
  };
  new ResizeObserver(again).observe(stage);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);

  return {
    node,
    window: () => (view.from === 0 && view.to === span ? undefined : [view.from, view.to]),
    show(next, window) {
      rows = next.rows;
      span = Math.max(next.span_s, CLOSEST);
      began = next.startup_s;
      after.hidden = began === 0;
      last = undefined;
      canvas.style.height = `${height()}px`;
      styles();
      if (window) look(...window);
      else all();
    },
  };
}
