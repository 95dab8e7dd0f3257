// The shapes of `breakeven.request/1` and `breakeven.estimate/1`, as the engine defines them.

export interface Interval { p10: number; p50: number; p90: number }
export type Basis = "measured" | "given" | "modelled" | "assumed";
export type Verdict = "gpu" | "cpu" | "either" | "unknown";

export interface Price { provider: string; instance: string; usd_per_h: number; instance_usd_per_h?: number | null; date: string }

export interface Side {
  time_s: Interval | null;
  cost_usd: Interval | null;
  energy_wh: Interval | null;
  co2_g: Interval | null;
  price: Price | null;
}

export interface Baseline extends Side { device: string; basis: Basis }

export type Breakdown = Record<"host" | "launch" | "compute" | "memory" | "transfer" | "sync" | "startup", number>;

export interface GpuEstimate extends Side {
  gpu: string;
  name: string;
  speedup: Interval | null;
  breakdown_s: Breakdown | null;
  effective_flop_per_s: number | null;
  bound_by: string | null;
  verdict: Verdict;
  basis: Basis;
  fits: boolean | null;
  peak_bytes: number | null;
  memory_bytes: number | null;
  break_even: { scale: number | null; describes: string; size?: SizeCrossing } | null;
}

/** Where both take the same time as the problem grows, and both times by its size. */
export interface SizeCrossing {
  now: number;
  at: Interval | null;
  shape_now: string;
  shape_at: string | null;
  /** Without a time of the GPU where the problem does not fit. */
  curve: { size: number; cpu_s: Interval; gpu_s: Interval | null }[];
}

/** Why the GPU takes its time: of the whole program, or of one line of it (`site`). */
export interface Reason { code: string; site: string | null; share: number | null; cause: string; remedy: string }

/** What would turn the answer; nothing does where `to` is not known. */
export interface Flip { what: string; text: string; to: number | null }

/** An edit of the program that would help on one side, with the speedup that is left then. */
export interface Advice { side: "gpu" | "cpu"; title: string; why: string; speedup_after: Interval | null }

export interface FormulaInput {
  name: string;
  value: number;
  unit: string;
  text: string;
  basis: Basis;
  typical: string | null;
}

export interface Formula {
  time_s: Interval;
  speedup: Interval | null;
  cost_usd: Interval | null;
  energy_wh: Interval | null;
  inputs: FormulaInput[];
  curve: WorkPoint[];
  roofline: Roofline | null;
  differs_because: string | null;
}

/** Both sides at one amount of work. */
export interface WorkPoint { scale: number; flop: number | null; cpu_s: Interval; gpu_s: Interval }

export interface Roof {
  precision: string;
  peak_flop_per_s: number;
  ridge_flop_per_byte: number;
  used: boolean;
  points: { flop_per_byte: number; flop_per_s: number }[];
}

export interface Roofline {
  intensity_flop_per_byte: number | null;
  attained_flop_per_s: Interval;
  bandwidth_byte_per_s: number;
  roofs: Roof[];
  reached: Roof["points"];
}

export interface Estimate {
  schema: string;
  summary: { verdict: Verdict; wins_on: number; of: number; best_gpu: string | null; shown_gpu: string | null; sentence: string };
  baseline: Baseline;
  estimates: GpuEstimate[];
  formula?: Formula;
  footprint?: Footprint[] | null;
  reasons: Reason[];
  robustness: Flip[];
  advice: Advice[];
  notes: { code: string; text: string }[];
}

/** Memory of the values asked about, stored in one precision. */
export interface Footprint { precision: string; bytes: number; text: string; role: string }

/** What was given, what is allowed, and the next step. */
export interface Refusal { code: string; message: string; hint?: string | null; field?: string | null }

export interface Request {
  today: string;
  numbers: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** One figure of a GPU's datasheet, from `breakeven.gpus/1`. */
export interface DatasheetFigure { figure: string; value: number | string; unit: string; source: string; read: string; confidence: string; note: string }
