// The break-even curve and the roofline, as the engine gives them.

import { chart, type Line, type Mark } from "./chart";
import { word } from "./engine";
import type { Figure } from "./figure";
import type { Estimate, GpuEstimate, Interval, Roof, SizeCrossing } from "./schema";

/** Time of both sides as the work grows; a sentence on why it is not known, or nothing where the answer has no such curve. */
export function breakEven(estimate: Estimate, gpu: GpuEstimate | undefined): Figure | string | undefined {
  if (!estimate.formula) return gpu?.break_even?.size && bySize(gpu, gpu.break_even.size);
  const points = estimate.formula.curve;
  if (!gpu || points.length === 0) return "Give the CPU's rate or its time, and the work: then there is something to compare.";
  const inFlop = points.every((p) => p.flop !== null && p.flop > 0);
  const x = (p: (typeof points)[number]) => (inFlop ? p.flop! : p.scale);
  const size = (value: number) => word(inFlop ? "flop" : "times", value);
  const now = points.find((p) => p.scale === 1);
  const even = points.find((p) => p.scale === gpu.break_even?.scale);
  const marks: Mark[] = [];
  if (now) marks.push({ x: x(now), text: inFlop ? `yours, ${size(x(now))}` : "yours" });
  if (even) marks.push({ x: x(even), y: even.gpu_s.p50, text: gpu.break_even!.describes });
  const where = even ? `Both take the same time at ${gpu.break_even!.describes}.` : `They do not cross: ${gpu.break_even?.describes ?? "not known"}.`;
  return {
    name: "break-even",
    says: `Time of the CPU and of ${gpu.name} as the work grows. ${where}`,
    draw: (width) => chart({
      title: `Time by amount of work on ${gpu.name}`,
      x: { title: inFlop ? "work; copies and start-up stay as they are" : "multiple of this work; copies and start-up stay", log: true, text: size },
      y: { title: "time", log: true, text: (s) => word("seconds", s) },
      lines: both(points.map((p) => ({ ...p, x: x(p) }))),
      marks,
      read: (at) => {
        const p = points.find((p) => x(p) === at)!;
        return [size(at), `CPU ${word("time", p.cpu_s)}`, `GPU ${word("time", p.gpu_s)}`];
      },
    }, width),
    data: {
      caption: "Time by amount of work",
      head: ["work", "CPU", "GPU", "GPU, p10 to p90"],
      rows: points.map((p) => row(size(x(p)), p)),
    },
  };
}

/** The same by the size of the problem, as the model answers it. */
function bySize(gpu: GpuEstimate, size: SizeCrossing): Figure {
  const number = (x: number) => word("count", x);
  const now = size.curve.find((p) => p.size === size.now);
  const marks: Mark[] = [{ x: size.now, ...(now?.gpu_s && { y: now.gpu_s.p50 }), text: `yours, ${size.shape_now}` }];
  if (size.at && size.shape_at) marks.push({ x: size.at.p50, text: `even at ${size.shape_at}` });
  return {
    name: "break-even",
    says: `Time of the CPU and of ${gpu.name} by the size of the problem: ${gpu.break_even!.describes}.`,
    draw: (width) => chart({
      title: `Time by size of the problem on ${gpu.name}`,
      x: { title: `size; ${number(size.now)} is ${size.shape_now}`, log: true, text: number },
      y: { title: "time", log: true, text: (s) => word("seconds", s) },
      lines: both(size.curve.map((p) => ({ x: p.size, ...p }))),
      marks,
      read: (at) => {
        const p = size.curve.find((p) => p.size === at)!;
        return [number(at), `CPU ${word("time", p.cpu_s)}`, `GPU ${word("time", p.gpu_s)}`];
      },
    }, width),
    data: {
      caption: "Time by size of the problem",
      head: ["size", "CPU", "GPU", "GPU, p10 to p90"],
      rows: size.curve.map((p) => row(number(p.size), p)),
    },
  };
}

interface Times { cpu_s: Interval; gpu_s: Interval | null }

/** The lines of both sides. */
function both(points: readonly (Times & { x: number })[]): Line[] {
  return [
    { name: "CPU", color: "cpu", dashes: "7 4", points: points.map((p) => ({ x: p.x, y: p.cpu_s.p50, low: p.cpu_s.p10, high: p.cpu_s.p90 })) },
    { name: "GPU, with its interval", color: "gpu", points: points.map(({ x, gpu_s }) => (gpu_s ? { x, y: gpu_s.p50, low: gpu_s.p10, high: gpu_s.p90 } : { x, y: null })) },
  ];
}

function row(name: string, p: Times): string[] {
  return [name, word("time", p.cpu_s), word("time", p.gpu_s), p.gpu_s ? `${word("seconds", p.gpu_s.p10)} to ${word("seconds", p.gpu_s.p90)}` : "does not fit"];
}

/** What the GPU can reach at each operational intensity and where this work lies, or why that is not known; nothing without a formula. */
export function roofline(estimate: Estimate, gpu: GpuEstimate | undefined): Figure | string | undefined {
  if (!estimate.formula) return undefined;
  const { roofline } = estimate.formula;
  if (!roofline || !gpu) return "Give an amount of arithmetic, and a GPU whose memory bandwidth is known.";
  const points = (of: Roof["points"]) => of.map((p) => ({ x: p.flop_per_byte, y: p.flop_per_s }));
  const used = roofline.roofs.find((roof) => roof.used);
  const alike = (roof: Roof) => roofline.roofs.filter((other) => other.peak_flop_per_s === roof.peak_flop_per_s);
  const others = roofline.roofs.filter((roof) => roof.peak_flop_per_s !== used?.peak_flop_per_s && alike(roof)[0] === roof);
  const lines: Line[] = others.map((roof) => (
    { name: alike(roof).map((other) => other.precision).join(", "), color: "other", aside: true, points: points(roof.points) }));
  lines.push({ name: "what this kind of work reaches", color: "launch", dashes: "7 4", points: points(roofline.reached) });
  if (used) lines.push({ name: `${alike(used).map((roof) => roof.precision).join(", ")}, the peak`, color: "gpu", points: points(used.points) });
  const marks: Mark[] = [];
  if (used) marks.push({ x: used.ridge_flop_per_byte, text: `ridge, ${word("flop_per_byte", used.ridge_flop_per_byte)}` });
  const at = roofline.intensity_flop_per_byte;
  const reached = word("flop_per_s", roofline.attained_flop_per_s.p50);
  if (at !== null) {
    const { p10, p50, p90 } = roofline.attained_flop_per_s;
    marks.push({ x: at, y: p50, low: p10, high: p90, color: "memory", text: `this work, ${reached}` });
  }
  const place = at === null
    ? `How much memory traffic the work has is not known (“Memory traffic”, or a size): it reaches at most ${reached}.`
    : `This work has ${word("flop_per_byte", at)} and reaches ${reached}.`;
  return {
    name: "roofline",
    says: `Roofline of ${gpu.name}. ${place}`,
    draw: (width) => chart({
      title: `Roofline of ${gpu.name}`,
      x: { title: "operational intensity: FLOP for each byte of memory traffic", log: true, text: (v) => word("flop_per_byte", v).replace(" FLOP/B", "") },
      y: { title: "rate", log: true, text: (v) => word("flop_per_s", v) },
      lines,
      marks,
    }, width),
    data: {
      caption: `Roofline of ${gpu.name}. ${place}`,
      head: ["precision", "peak", "ridge", "memory bandwidth reached"],
      rows: roofline.roofs.map((roof) => [roof.precision, word("flop_per_s", roof.peak_flop_per_s), word("flop_per_byte", roof.ridge_flop_per_byte), word("bytes_per_s", roofline.bandwidth_byte_per_s)]),
    },
  };
}
