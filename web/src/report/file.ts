// A file that somebody chose: what can be told before all of it is read.

/** At most so many bytes are read, packed or not; the command refuses more than four times that. */
export const LARGEST = 256 * 2 ** 20;
export const SIZE = `${LARGEST / 2 ** 20} MiB`;

/** Throws words for people where this can be no workload file; says whether it is packed. */
export async function checkFile(file: File): Promise<boolean> {
  if (file.size > LARGEST) {
    const size = (file.size / 2 ** 20).toFixed(0);
    throw new Error(`the file has ${size} MiB and was not read: at most ${SIZE} are, and no recorded workload is as large`);
  }
  const empty = "the file is empty, or is a folder: a workload file is needed";
  if (file.size === 0) throw new Error(empty);
  const head = new Uint8Array(await file.slice(0, 64).arrayBuffer().catch(() => {
    throw new Error(empty);
  }));
  if (head[0] === 0x1f && head[1] === 0x8b) return true;
  if (!new TextDecoder().decode(head).trimStart().startsWith("{")) {
    throw new Error("this is no workload file: `breakeven run SCRIPT --save job.breakeven.json` records one");
  }
  return false;
}
