// Texts that people type, taken apart and put together.

/** Names apart by commas. */
export function listed(text: string): string[] {
  return text.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** A word of a shell's line. */
export function quoted(word: string): string {
  return /^[\w.,:/%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
