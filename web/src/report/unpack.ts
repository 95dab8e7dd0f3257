// Bytes out of what is packed: what the page carries, and files that people choose.

import { LARGEST, SIZE, checkFile } from "./file";

/** Raw DEFLATE in base64. */
export async function unpack(text: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
}

/** The bytes of a workload file that somebody chose; throws words for people. */
export async function readFile(file: File): Promise<Uint8Array> {
  const packed = await checkFile(file);
  const stream: ReadableStream<Uint8Array> = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new Error(packed ? "the gzip file is not whole: save it again" : "the file could not be read");
    });
    if (done) break;
    length += value.length;
    if (length > LARGEST) {
      await reader.cancel();
      throw new Error(`the file unpacks to more than ${SIZE}: no recorded workload is as large`);
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
