// Worked examples; the page opens with the first.

import type { State } from "./state";

export interface Preset { name: string; state: State }

export const PRESETS: readonly Preset[] = [
  { name: "A product of 8000 × 8000 on an L4, by the model", state: { form: "matmul", matmul: "8000", gpu: "L4", cpu: "AWS g6.xlarge" } },
  {
    name: "Train 124M parameters on 1B tokens",
    state: { form: "training", precision: "bf16", parameters: "124M", tokens: "1B", gpu: "H100 SXM", cpu: "EPYC 9654" },
  },
  {
    name: "200 new tokens of a network of 7B parameters",
    state: { form: "training", precision: "bf16", parameters: "7B", new_tokens: "200", gpu: "RTX 4090", cpu: "Ryzen 9 7950X" },
  },
  {
    name: "Monte Carlo, a million paths, 300 s on the CPU",
    state: { form: "array", elements: "252e6", operations: "40", data: "8MB", cpu_time: "300 s", gpu: "L4" },
  },
  { name: "Three hours on the CPU, 80 % of it parallel", state: { cpu_time: "3 h", parallel_fraction: "80%" } },
  {
    name: "The formula, every figure given: 10 TFLOP on an RTX 3080",
    state: {
      flops: "10,000 GFLOPS", data: "1GB", cpu_rate: "400GFLOP/s", gpu: "RTX 3080", peak: "12.5TFLOP/s",
      utilization: "100%", python_overhead: "0", link: "32GB/s", data_out: "0", init: "468.75ms",
    },
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
