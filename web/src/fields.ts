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
  ["flops", "FLOP in all"],
  ["matmul", "matrix product n × n"],
  ["training", "train N parameters on T tokens"],
  ["array", "array of N elements"],
  ["dataframe", "a dataframe of R rows"],
] as const;

export const QUICK: readonly Field[] = [
  { id: "kind", part: "numbers", flag: "--kind", label: "Kind of work", choices: KINDS },
  { id: "precision", part: "numbers", flag: "--precision", label: "Precision", known: "number format", choices: PRECISIONS },
  { id: "flops", part: "numbers", flag: "--flops", label: "Work", known: "operations", typical: "1 GFLOP–1 EFLOP", example: "10 TFLOP", form: "flops" },
  { id: "matmul", part: "numbers", flag: "--matmul", label: "n", known: "rows and columns", typical: "500–50 000", example: "4096", form: "matmul" },
  { id: "parameters", part: "numbers", flag: "--parameters", label: "Parameters", known: "weights", typical: "1 M–100 G", example: "124M", form: "training" },
  { id: "tokens", part: "numbers", flag: "--tokens", label: "Tokens", known: "samples", typical: "1 M–10 T", example: "1e9", form: "training" },
  { id: "elements", part: "numbers", flag: "--elements", label: "Elements", known: "values", typical: "1 M–10 G", example: "1e8", form: "array" },
  { id: "operations", part: "numbers", flag: "--operations", label: "Operations each", known: "FLOP", typical: "1–1 000", example: "10", form: "array" },
  { id: "rows", part: "numbers", flag: "--rows", label: "Rows", known: "records", typical: "100 k–1 G", example: "1e7", form: "dataframe" },
  { id: "columns", part: "numbers", flag: "--columns", label: "Columns", known: "fields", typical: "5–100", example: "10", form: "dataframe" },
  { id: "data", part: "numbers", flag: "--data", label: "Data moved", known: "transfer", typical: "1 MB–100 GB", example: "1 GB" },
  { id: "gpu", part: "options", flag: "--gpu", label: "GPU", known: "graphics card", example: "all of them", names: "gpus" },
  { id: "cpu", part: "options", flag: "--cpu", label: "CPU", known: "processor", example: "by name", names: "cpus" },
  { id: "cpu_rate", part: "numbers", flag: "--cpu-rate", label: "CPU rate", known: "CPU speed", example: "400 GFLOP/s" },
  { id: "cpu_time", part: "numbers", flag: "--cpu-time", label: "or CPU time", known: "measured", typical: "10 ms–10 h", example: "25 s" },
  { id: "price", part: "options", flag: "--price", label: "Price", known: "cloud cost", typical: "0.1–10 USD/h", example: "0.35 USD/h", card: true },
];

export const EXPERT: readonly Field[] = [
  { id: "utilization", part: "numbers", flag: "--utilization", label: "Utilisation", known: "GPU efficiency", card: true },
  { id: "python_overhead", part: "numbers", flag: "--python-overhead", label: "Python overhead", modelled: true },
  { id: "peak", part: "numbers", flag: "--peak", label: "Peak rate", known: "theoretical throughput", typical: "1–2 000 TFLOP/s", card: true },
  { id: "bytes", part: "numbers", flag: "--bytes", label: "Memory traffic", known: "bytes read and written", typical: "1 MB–10 TB" },
  { id: "bandwidth", part: "numbers", flag: "--bandwidth", label: "Memory bandwidth", card: true },
  { id: "data_out", part: "numbers", flag: "--data-out", label: "Data back", known: "results", typical: "0 B–100 GB" },
  { id: "link", part: "numbers", flag: "--link", label: "Host link", known: "PCIe bandwidth", card: true },
  { id: "pcie", part: "numbers", flag: "--pcie", label: "or PCIe", example: "4.0 x16", typical: "3.0–5.0, x4–x16", card: true },
  { id: "init", part: "numbers", flag: "--init", label: "Initialisation", known: "start-up, warm-up", modelled: true },
  { id: "parallel_fraction", part: "numbers", flag: "--parallel-fraction", label: "Parallel fraction", known: "Amdahl's p" },
  { id: "workload_factor", part: "numbers", flag: "--workload-factor", label: "Workload factor", modelled: true },
  { id: "precision_factor", part: "numbers", flag: "--precision-factor", label: "Precision factor", modelled: true },
  { id: "gpus", part: "numbers", flag: "--gpus", label: "GPUs", known: "devices together", typical: "1–8" },
  { id: "scaling_efficiency", part: "numbers", flag: "--scaling-efficiency", label: "Scaling efficiency" },
  { id: "values", part: "numbers", flag: "--values", label: "Values in memory", known: "array size", typical: "1 M–100 G", example: "1e9" },
  { id: "cpu_price", part: "options", flag: "--cpu-price", label: "CPU price", typical: "0.05–4 USD/h" },
  { id: "gpu_watts", part: "options", flag: "--gpu-watts", label: "GPU power", known: "board power, TDP", typical: "70–1 000 W", card: true },
  { id: "cpu_watts", part: "options", flag: "--cpu-watts", label: "CPU power", typical: "15–350 W" },
  { id: "electricity", part: "options", flag: "--electricity", label: "Electricity", known: "own machine", typical: "0.05–0.40 USD/kWh" },
  { id: "region", part: "options", flag: "--region", label: "Region", known: "grid carbon", example: "country or cloud region" },
  { id: "provider", part: "options", flag: "--provider", label: "Provider", known: "cloud" },
  { id: "max_price", part: "options", flag: "--max-price", label: "At most", known: "budget", typical: "0.1–100 USD/h", example: "2 USD/h" },
  { id: "runs_per_month", part: "options", flag: "--runs-per-month", label: "Runs a month", known: "monthly bill", typical: "1–1 000 000" },
  { id: "spot", part: "options", flag: "--spot", label: "Spot prices", tick: true },
  { id: "exclude_startup", part: "options", flag: "--exclude-startup", label: "Leave start-up out", tick: true },
];

export const FIELDS: readonly Field[] = [...QUICK, ...EXPERT];
