// Worked examples.

import type { State } from "./state";

export interface Preset { name: string; state: State }

export const PRESETS: readonly Preset[] = [
  {
    name: "10 000 GFLOP on an RTX 3080",
    state: {
      flops: "10,000 GFLOPS", data: "1GB", cpu_rate: "400GFLOP/s", gpu: "RTX 3080", peak: "12.5TFLOP/s",
      utilization: "100%", python_overhead: "0", link: "32GB/s", data_out: "0", init: "468.75ms",
    },
  },
  {
    name: "Monte Carlo, a million paths, 300 s on the CPU",
    state: { kind: "simulation", form: "array", elements: "252e6", operations: "40", data: "8MB", cpu_time: "300 s", gpu: "L4" },
  },
  {
    name: "Train 124 M parameters on 1 G tokens",
    state: { kind: "training", precision: "bf16", form: "training", parameters: "124e6", tokens: "1e9", cpu_rate: "2 TFLOP/s", gpu: "H100 SXM" },
  },
  { name: "Loses: the job ends before the GPU has started", state: { flops: "40 GFLOP", data: "10MB", cpu_rate: "400GFLOP/s", gpu: "RTX 3080" } },
  {
    name: "Loses: one addition per value of a gigabyte",
    state: { form: "array", elements: "250e6", operations: "1", cpu_time: "0.1 s", gpu: "H100 SXM" },
  },
  {
    name: "Loses: only a tenth can run in parallel",
    state: { flops: "800 GFLOP", data: "1GB", cpu_rate: "400GFLOP/s", parallel_fraction: "10%", gpu: "RTX 3080" },
  },
];
