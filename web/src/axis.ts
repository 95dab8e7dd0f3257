// An axis: from values to dots, and the round values that it names.

export interface Axis {
  title: string;
  /** Tenfold steps are as wide as each other. */
  log: boolean;
  /** A value as people read it. */
  text: (value: number) => string;
}

/** From values to dots, and the values that the axis names. */
export interface Scale { at: (value: number) => number; ticks: number[] }

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
