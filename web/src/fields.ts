// The inputs of the calculator as data: the form, the request, the link and the command line are all made from this.

export type Part = "numbers" | "options";

export interface Field {
  /** Key in the request, and name in the link. */
  id: string;
  part: Part;
  /** The command's flag. */
  flag: string;
  label: string;
  /** What other people call it. */
  known?: string;
  /** Closed choices, as [value, text]; the first is what the engine takes when nothing is chosen. */
  choices?: readonly (readonly [string, string])[];
  /** A typical range, where the engine does not echo one. */
  typical?: string;
  /** What is taken when nothing is given, as the command's help has it. */
  otherwise?: string;
  /** What may be typed, where nothing is taken otherwise. */
  example?: string;
  /** Suggestions come from this list of names. */
  names?: "gpus" | "cpus";
  /** A box to tick. */
  tick?: boolean;
  /** Shown only when this form of size is chosen. */
  form?: string;
  /** It describes the one GPU chosen and says nothing of the others. */
  card?: boolean;
  /** The model has a value of its own for it, on whatever GPU. */
  modelled?: boolean;
}

export const KINDS = [
  ["", "as the work says"],
  ["array", "Array code (NumPy, pandas)"],
  ["simulation", "Simulation, Monte Carlo"],
  ["training", "Training a network"],
  ["inference", "Inference"],
] as const;

export const PRECISIONS = [
  ["fp32", "fp32, single"],
  ["fp64", "fp64, double (NumPy)"],
  ["tf32", "tf32, tensor cores"],
  ["fp16", "fp16, half"],
  ["bf16", "bf16, training"],
  ["fp8", "fp8, inference"],
  ["int8", "int8, quantised"],
] as const;

/** Ways to say how large the work is. */
export const FORMS = [
  ["flops", "FLOP in all, or its time on the CPU"],
  ["matmul", "product of n × n matrices"],
  ["training", "a network of N parameters"],
  ["array", "array of N elements"],
  ["dataframe", "a dataframe of R rows"],
] as const;

export const QUICK: readonly Field[] = [
  { id: "kind", part: "numbers", flag: "--kind", label: "Kind of work", choices: KINDS },
  { id: "precision", part: "numbers", flag: "--precision", label: "Precision", choices: PRECISIONS },
  { id: "flops", part: "numbers", flag: "--flops", label: "Work", known: "operations", typical: "1 GFLOP–1 EFLOP", example: "10 TFLOP", form: "flops" },
  { id: "matmul", part: "numbers", flag: "--matmul", label: "Matrix size", known: "n", typical: "500–50 000", example: "4096", form: "matmul" },
  { id: "parameters", part: "numbers", flag: "--parameters", label: "Parameters", known: "weights", typical: "1M–100B", example: "7B", form: "training" },
  { id: "tokens", part: "numbers", flag: "--tokens", label: "Tokens", known: "to train on", typical: "1M–10T", example: "1B", form: "training" },
  { id: "new_tokens", part: "numbers", flag: "--new-tokens", label: "New tokens", known: "inference", typical: "1–10 000", example: "200", form: "training" },
  { id: "context", part: "numbers", flag: "--context", label: "Context", known: "tokens of a sequence", typical: "128–1M", otherwise: "2048", form: "training" },
  { id: "batch", part: "numbers", flag: "--batch", label: "Batch", known: "sequences at a time", typical: "1–512", otherwise: "1", form: "training" },
  { id: "checkpointing", part: "numbers", flag: "--checkpointing", label: "Checkpointing", known: "less memory", tick: true, form: "training" },
  { id: "elements", part: "numbers", flag: "--elements", label: "Elements", typical: "1M–10G", example: "1e8", form: "array" },
  { id: "operations", part: "numbers", flag: "--operations", label: "Operations each", typical: "1–1 000", otherwise: "1", form: "array" },
  { id: "rows", part: "numbers", flag: "--rows", label: "Rows", typical: "100k–1G", example: "1e7", form: "dataframe" },
  { id: "columns", part: "numbers", flag: "--columns", label: "Columns", typical: "5–100", otherwise: "10", form: "dataframe" },
  { id: "data", part: "numbers", flag: "--data", label: "Data moved", known: "to the GPU", typical: "1 MB–100 GB", example: "1 GB" },
  { id: "gpu", part: "options", flag: "--gpu", label: "GPU", otherwise: "all of them", names: "gpus" },
  { id: "cpu", part: "options", flag: "--cpu", label: "CPU", otherwise: "8 cores at 3.5 GHz", names: "cpus" },
  { id: "cpu_rate", part: "numbers", flag: "--cpu-rate", label: "CPU rate", typical: "10 GFLOP/s–5 TFLOP/s", otherwise: "by the model" },
  { id: "cpu_time", part: "numbers", flag: "--cpu-time", label: "or CPU time", known: "measured", typical: "10 ms–10 h", otherwise: "by the model" },
  { id: "price", part: "options", flag: "--price", label: "Price", typical: "0.1–10 USD/h", otherwise: "of the catalogue", card: true },
];

/** What only the formula takes: where one of these is given, it answers in the model's place. */
export const FORMULA: readonly Field[] = [
  { id: "utilization", part: "numbers", flag: "--utilization", label: "Utilisation", known: "GPU efficiency", typical: "0.05–0.80", otherwise: "by the model", card: true },
  { id: "python_overhead", part: "numbers", flag: "--python-overhead", label: "Python overhead", typical: "0–0.5", otherwise: "10 %", modelled: true },
  { id: "peak", part: "numbers", flag: "--peak", label: "Peak rate", known: "theoretical throughput", typical: "1–2 000 TFLOP/s", otherwise: "of the catalogue", card: true },
  { id: "bytes", part: "numbers", flag: "--bytes", label: "Memory traffic", known: "bytes read and written", typical: "1 MB–10 TB" },
  { id: "bandwidth", part: "numbers", flag: "--bandwidth", label: "Memory bandwidth", typical: "100 GB/s–8 TB/s", otherwise: "of the catalogue", card: true },
  { id: "link", part: "numbers", flag: "--link", label: "Host link", known: "PCIe bandwidth", typical: "8–64 GB/s", otherwise: "of the catalogue", card: true },
  { id: "pcie", part: "numbers", flag: "--pcie", label: "or PCIe", example: "4.0 x16", typical: "3.0–5.0, x4–x16", card: true },
  { id: "init", part: "numbers", flag: "--init", label: "Initialisation", known: "start-up", typical: "50–500 ms", otherwise: "start-up of the library", modelled: true },
  { id: "parallel_fraction", part: "numbers", flag: "--parallel-fraction", label: "Parallel fraction", known: "Amdahl's p", typical: "0–1", otherwise: "100 %" },
  { id: "workload_factor", part: "numbers", flag: "--workload-factor", label: "Workload factor", typical: "0.6–1.0", otherwise: "1×", modelled: true },
  { id: "precision_factor", part: "numbers", flag: "--precision-factor", label: "Precision factor", typical: "0.5–4", otherwise: "1×", modelled: true },
  { id: "gpus", part: "numbers", flag: "--gpus", label: "GPUs", known: "used together", typical: "1–8", otherwise: "1" },
  { id: "scaling_efficiency", part: "numbers", flag: "--scaling-efficiency", label: "Scaling efficiency", typical: "0.7–0.95", otherwise: "90 %" },
  { id: "values", part: "numbers", flag: "--values", label: "Values in memory", known: "array size", typical: "1M–100G", example: "1e9" },
];

export const MONEY: readonly Field[] = [
  { id: "data_out", part: "numbers", flag: "--data-out", label: "Data back", known: "results", typical: "0 B–100 GB" },
  { id: "cpu_price", part: "options", flag: "--cpu-price", label: "CPU price", typical: "0.05–4 USD/h", otherwise: "of the catalogue" },
  { id: "gpu_watts", part: "options", flag: "--gpu-watts", label: "GPU power", known: "board power, TDP", typical: "70–1 000 W", otherwise: "of the catalogue", card: true },
  { id: "cpu_watts", part: "options", flag: "--cpu-watts", label: "CPU power", typical: "15–350 W", otherwise: "of the catalogue" },
  { id: "electricity", part: "options", flag: "--electricity", label: "Electricity", known: "own machine", typical: "0.05–0.40 USD/kWh" },
  { id: "region", part: "options", flag: "--region", label: "Region", known: "grid carbon", otherwise: "the world's average" },
  { id: "provider", part: "options", flag: "--provider", label: "Provider", otherwise: "the cheapest" },
  { id: "provider_class", part: "options", flag: "--provider-class", label: "Class of provider", choices: [["", "all"], ["cloud", "clouds"], ["marketplace", "marketplaces"]] },
  { id: "max_price", part: "options", flag: "--max-price", label: "At most", known: "budget", typical: "0.1–100 USD/h", example: "2 USD/h" },
  { id: "runs_per_month", part: "options", flag: "--runs-per-month", label: "Runs a month", known: "monthly bill", typical: "1–1 000 000" },
  { id: "spot", part: "options", flag: "--spot", label: "Spot prices", tick: true },
  { id: "exclude_startup", part: "options", flag: "--exclude-startup", label: "Leave start-up out", tick: true },
];

export const EXPERT: readonly Field[] = [...FORMULA, ...MONEY];
export const FIELDS: readonly Field[] = [...QUICK, ...EXPERT];
