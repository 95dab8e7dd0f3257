// Unpacks LZMA, which makes the page a fifth smaller than DEFLATE, the best that browsers unpack by themselves.
// After the specification in the public domain: Pavlov, "LZMA specification", LZMA SDK 9.22.

const HALF = 1024;
const STATES = 12;

/**
 * What the page carries: a `.lzma` file, thirteen bits in two characters from space to `~` without `<`; the pairs left
 * over are those of the least values with a one behind them, which bring a zero otherwise.
 */
export function unpackText(text: string): Uint8Array {
  const digit = (c: number) => c - 32 - (c > 60 ? 1 : 0);
  const packed = new Uint8Array((text.length * 14) >> 4);
  let [bits, count, at] = [0, 0, 0];
  for (let i = 0; i < text.length; i += 2) {
    const value = digit(text.charCodeAt(i)) * 94 + digit(text.charCodeAt(i + 1));
    const least = value % 8192 < 644;
    bits = least ? (bits << 14) | ((value % 8192) << 1) | (value >> 13) : (bits << 13) | value;
    for (count += least ? 14 : 13; count >= 8; ) packed[at++] = bits >>> (count -= 8);
  }
  return unpack(packed);
}

/** The contents of a `.lzma` file that tells its size. */
function unpack(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset);
  const [lc, rest] = [packed[0]! % 9, Math.floor(packed[0]! / 9)];
  const [lp, pb] = [rest % 5, Math.floor(rest / 5)];
  const out = new Uint8Array(view.getUint32(5, true));

  // The range coder: `code` lies within `range`, and each bit takes its part of it.
  let range = 0xffffffff;
  let code = view.getUint32(14);
  let at = 18;
  function bit(chances: Uint16Array, i: number): number {
    const chance = chances[i]!;
    const bound = (range >>> 11) * chance;
    let is: number;
    if (code < bound) {
      range = bound;
      chances[i] = chance + ((2048 - chance) >> 5);
      is = 0;
    } else {
      range -= bound;
      code -= bound;
      chances[i] = chance - (chance >> 5);
      is = 1;
    }
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | packed[at++]!) >>> 0;
    }
    return is;
  }
  function evenBits(count: number): number {
    let value = 0;
    while (count-- > 0) {
      range >>>= 1;
      const is = code >= range ? 1 : 0;
      if (is) code -= range;
      value = (value << 1) | is;
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | packed[at++]!) >>> 0;
      }
    }
    return value;
  }
  function tree(chances: Uint16Array, start: number, bits: number): number {
    let node = 1;
    for (let i = 0; i < bits; i++) node = (node << 1) | bit(chances, start + node);
    return node - (1 << bits);
  }
  function turnedTree(chances: Uint16Array, start: number, bits: number): number {
    let [node, value] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const is = bit(chances, start + node);
      node = (node << 1) | is;
      value |= is << i;
    }
    return value;
  }

  const chances = (count: number) => new Uint16Array(count).fill(HALF);
  const literals = chances(0x300 << (lc + lp));
  const [isMatch, isLong0] = [chances(STATES << 4), chances(STATES << 4)];
  const isAgain = [chances(STATES), chances(STATES), chances(STATES), chances(STATES)] as const;
  const [slots, near, far] = [chances(4 << 6), chances(128), chances(16)];
  // Of a length: two choices, then 8 or 16 short ones by position, or 256.
  const lengths = () => ({ choice: chances(2), low: chances(16 << 3), middle: chances(16 << 3), high: chances(256) });
  const [fresh, again] = [lengths(), lengths()];
  const length = (of: ReturnType<typeof lengths>, place: number) =>
    bit(of.choice, 0) === 0 ? tree(of.low, place << 3, 3)
    : bit(of.choice, 1) === 0 ? 8 + tree(of.middle, place << 3, 3)
    : 16 + tree(of.high, 0, 8);

  let [state, d0, d1, d2, d3, n] = [0, 0, 0, 0, 0, 0];
  while (n < out.length) {
    const place = n & ((1 << pb) - 1);
    if (bit(isMatch, (state << 4) + place) === 0) {
      const before = n > 0 ? out[n - 1]! : 0;
      const start = 0x300 * (((n & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
      let node = 1;
      if (state >= 7) {
        let alike = out[n - d0 - 1]!;
        while (node < 0x100) {
          const expected = (alike >> 7) & 1;
          alike <<= 1;
          const is = bit(literals, start + ((1 + expected) << 8) + node);
          node = (node << 1) | is;
          if (is !== expected) break;
        }
      }
      while (node < 0x100) node = (node << 1) | bit(literals, start + node);
      out[n++] = node;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count: number;
    if (bit(isAgain[0], state) === 0) {
      [d3, d2, d1] = [d2, d1, d0];
      count = length(fresh, place);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots, Math.min(count, 3) << 6, 6);
      const bits = (slot >> 1) - 1;
      if (slot < 4) d0 = slot;
      else if (slot < 14) d0 = ((2 | (slot & 1)) << bits) + turnedTree(near, ((2 | (slot & 1)) << bits) - slot, bits);
      else d0 = ((2 | (slot & 1)) << bits) + (evenBits(bits - 4) << 4) + turnedTree(far, 0, 4);
    } else {
      if (bit(isAgain[1], state) === 0) {
        if (bit(isLong0, (state << 4) + place) === 0) {
          state = state < 7 ? 9 : 11;
          out[n] = out[n - d0 - 1]!;
          n++;
          continue;
        }
      } else if (bit(isAgain[2], state) === 0) {
        [d0, d1] = [d1, d0];
      } else if (bit(isAgain[3], state) === 0) {
        [d0, d1, d2] = [d2, d0, d1];
      } else {
        [d0, d1, d2, d3] = [d3, d0, d1, d2];
      }
      count = length(again, place);
      state = state < 7 ? 8 : 11;
    }
    for (count += 2; count > 0; count--, n++) out[n] = out[n - d0 - 1]!;
  }
  return out;
}
