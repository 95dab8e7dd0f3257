// The engine in a worker of its own, so that nothing freezes while it thinks. The worker runs the page's own script:
// one file, one hash in the policy. Where no worker can be made, the same code answers on the page itself.

import init, { Report, gpus, moment, seconds } from "report-engine";
import { unpackText } from "../lzma";
import { unpack } from "./unpack";

/** What can be asked; each by name, with its arguments, and what comes back. */
export interface Asks {
  start: (engine: string) => void;
  /** The file that the page was written with, and the runs of other sizes or nothing: base64 of raw DEFLATE. */
  openPacked: (file: string, sizes: string) => Recorded;
  open: (file: Uint8Array) => Recorded;
  html: (options: string, today: string) => string;
  /** The answer as Markdown, or as the command's JSON. */
  text: (options: string, today: string, markdown: boolean) => string;
  /** Names of the GPUs there are. */
  gpus: () => string[];
  /** Lays out the timeline on the first GPU of the options. */
  look: (options: string, today: string) => Look;
  /** What there is from one moment to another, in so many columns, with words for the moments `ticks`. */
  window: (from: number, to: number, columns: number, ticks: number[]) => Window;
}

/** What of a file decides which questions there are. */
export interface Recorded {
  /** The program uses a GPU library itself. */
  written: boolean;
  /** Sizes of the runs; the first is the one that is open. None for a single run. */
  sizes: number[];
}

export interface Look {
  gpu: string;
  span_s: number;
  /** Of that, start-up, which comes first. */
  startup_s: number;
  rows: string[];
}

export interface Window {
  from: number;
  to: number;
  /** Busy share by row, then column. */
  shares: Float32Array;
  /** Row, start, length and task of each stretch; empty where there are too many to draw. */
  pieces: Float64Array;
  /** Names of the tasks in `pieces`, and how long each piece is. */
  names: Map<number, string>;
  lengths: string[];
  ticks: string[];
  /** The whole window in words. */
  said: string;
}

/** Stretches that are drawn one by one; more are columns. */
const MOST_PIECES = 1500;

type Name = keyof Asks;
type Call = { id: number; name: Name; args: unknown[] };
type Reply = { id: number; value?: unknown; error?: string };

export interface Engine {
  ask<N extends Name>(name: N, ...args: Parameters<Asks[N]>): Promise<ReturnType<Asks[N]>>;
}

let report: Report | undefined;

function opened(): Report {
  if (!report) throw new Error("no workload is open");
  return report;
}

/** The new one is read before the old one goes: a file that is refused changes nothing. */
function replace(file: Uint8Array, sizes?: Uint8Array): Recorded {
  const next = new Report(file);
  const scales = sizes ? [...next.setSizes(sizes)] : [];
  report?.free();
  report = next;
  return { written: next.written(), sizes: scales };
}

const answers: { [N in Name]: (...args: Parameters<Asks[N]>) => ReturnType<Asks[N]> | Promise<ReturnType<Asks[N]>> } = {
  async start(engine) {
    await init({ module_or_path: unpackText(engine) });
  },
  async openPacked(file, sizes) {
    return replace(new Uint8Array(await unpack(file)), sizes ? new Uint8Array(await unpack(sizes)) : undefined);
  },
  open: (file) => replace(file),
  html: (options, today) => opened().html(options, today),
  text: (options, today, markdown) => opened().text(options, today, markdown),
  gpus,
  look: (options, today) => JSON.parse(opened().look(options, today)) as Look,
  window(from, to, columns, ticks) {
    const open = opened();
    const pieces = open.pieces(from, to, MOST_PIECES);
    const names = new Map<number, string>();
    const lengths: string[] = [];
    for (let i = 0; i < pieces.length; i += 4) {
      const task = pieces[i + 3]!;
      if (!names.has(task)) names.set(task, open.task(task));
      lengths.push(seconds(pieces[i + 2]!));
    }
    return {
      from, to, pieces, names, lengths,
      shares: open.shares(from, to, columns),
      ticks: ticks.map((at) => moment(at, to - from)),
      said: open.say(from, to),
    };
  },
};

async function answer({ id, name, args }: Call): Promise<Reply> {
  try {
    return { id, value: await (answers[name] as (...args: unknown[]) => unknown)(...args) };
  } catch (error) {
    // The engine refuses with text; anything else is a fault of this page.
    return { id, error: typeof error === "string" ? error : String(error) };
  }
}

/** True in the worker; then it answers from now on. */
export function serve(): boolean {
  if (typeof document !== "undefined") return false;
  // One after the other, in the order they came.
  let last: Promise<unknown> = Promise.resolve();
  self.addEventListener("message", (event: MessageEvent<Call>) => {
    last = last.then(async () => {
      (self as unknown as Worker).postMessage(await answer(event.data));
    });
  });
  return true;
}

/** An engine in a worker made of this page's script; on the page itself where that cannot be. */
export async function connect(script: string, packed: string): Promise<Engine> {
  const worker = inWorker(script);
  if (worker) {
    const started = await worker.ask("start", packed).then(() => true, () => false);
    if (started) return worker;
  }
  const engine = here();
  await engine.ask("start", packed);
  return engine;
}

function inWorker(script: string): Engine | undefined {
  let worker: Worker;
  try {
    worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  } catch {
    return undefined;
  }
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  worker.addEventListener("message", (event: MessageEvent<Reply>) => {
    const { id, value, error } = event.data;
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(value as never);
    else one?.reject(new Error(error));
  });
  worker.addEventListener("error", (event) => {
    for (const one of waiting.values()) one.reject(new Error(event.message || "the engine could not be started"));
    waiting.clear();
  });
  let next = 0;
  return {
    ask: (name, ...args) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, name, args });
      }),
  };
}

function here(): Engine {
  return {
    async ask(name, ...args) {
      // Lets what changed be drawn first.
      await new Promise((done) => setTimeout(done));
      const { value, error } = await answer({ id: 0, name, args });
      if (error !== undefined) throw new Error(error);
      return value as never;
    },
  };
}
