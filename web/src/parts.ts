// Where the time goes: bars of parts and their figures.

import { stacks, type Stack } from "./bars";
import { word } from "./engine";
import type { Figure } from "./figure";
import type { Breakdown, GpuEstimate } from "./schema";

const PARTS: readonly (readonly [keyof Breakdown, string])[] = [
  ["startup", "start-up"],
  ["host", "CPU and Python"],
  ["launch", "kernel launches"],
  ["sync", "waiting"],
  ["transfer", "copies"],
  ["memory", "device memory"],
  ["compute", "arithmetic"],
];

/** The parts of a GPU's time, with the user's numbers and with the model's alone; or why they are not known. */
export function timeParts(gpu: GpuEstimate | undefined, ours: GpuEstimate | undefined): Figure | string {
  if (!gpu?.breakdown_s || !gpu.time_s) return "Not known.";
  const both: [string, GpuEstimate][] = [[ours ? "With your numbers" : gpu.name, gpu]];
  if (ours?.breakdown_s && ours.time_s) both.push(["With our model alone", ours]);
  const of = both.map(([name, { breakdown_s: parts, time_s: time }]) => ({
    name,
    text: word("time", time),
    parts: PARTS.filter(([key]) => parts![key] > 0).map(([key, part]) =>
      ({ name: part, color: key, value: parts![key], text: word("seconds", parts![key]), share: word("share", parts![key] / time!.p50) })),
  }));
  const used = PARTS.filter(([key]) => of.some((stack) => stack.parts.some((p) => p.color === key)));
  const cells = (stack: (typeof of)[number], key: string) => {
    const part = stack.parts.find((p) => p.color === key);
    return part ? [part.text, part.share] : ["0 s", "0 %"];
  };
  return {
    name: "where-the-time-goes",
    says: `Where the time on ${gpu.name} goes. ${of.map((s) => `${s.name}: ${s.parts.map((p) => `${p.name} ${p.text}`).join(", ")}`).join(". ")}.`,
    draw: (width) => stacks(of satisfies Stack[], width),
    data: {
      caption: `Time on ${gpu.name}`,
      head: ["part", ...of.flatMap((stack) => [stack.name.replace(/^With /, ""), "share"])],
      rows: used.map(([key, name]) => [name, ...of.flatMap((stack) => cells(stack, key))]),
    },
  };
}
