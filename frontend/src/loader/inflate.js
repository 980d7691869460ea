// Decompresses raw DEFLATE data (RFC 1951). `DecompressionStream` would do the same, but Safari 16.0 lacks it, and it is
// asynchronous: outputs that a notebook inserts one after another would find the bundle missing.

/** Base lengths and distances of the symbols, and how many further bits each has. */
const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
/** The order in which a block lists the lengths of its code lengths' codes. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/**
 * A canonical Huffman code: how many codes have each length, and the symbols in the order of their codes.
 * @param {number[]} lengths
 */
function huffman(lengths) {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length] += length > 0 ? 1 : 0;
  const starts = new Uint16Array(16);
  for (let n = 1; n < 15; n++) starts[n + 1] = starts[n] + counts[n];
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length) symbols[starts[length]++] = symbol;
  });
  return { counts, symbols };
}

/**
 * @param {Uint8Array} data
 * @returns {Uint8Array}
 */
export function inflate(data) {
  let result = new Uint8Array(data.length * 4);
  let [size, at, held, count] = [0, 0, 0, 0];

  /** @param {number} wanted */
  function bits(wanted) {
    while (count < wanted) {
      if (at >= data.length) throw new Error("The compressed data ends too early.");
      held |= data[at++] << count;
      count += 8;
    }
    const value = held & ((1 << wanted) - 1);
    held >>>= wanted;
    count -= wanted;
    return value;
  }

  /** @param {ReturnType<typeof huffman>} code */
  function symbol({ counts, symbols }) {
    let [value, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length++) {
      value |= bits(1);
      if (value - first < counts[length]) return symbols[index + value - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      value <<= 1;
    }
    throw new Error("The compressed data is damaged.");
  }

  /** @param {number} more */
  function grow(more) {
    if (size + more <= result.length) return;
    const larger = new Uint8Array(2 * (size + more));
    larger.set(result);
    result = larger;
  }

  function stored() {
    [held, count] = [0, 0];
    const length = data[at] | (data[at + 1] << 8);
    at += 4;
    grow(length);
    result.set(data.subarray(at, at + length), size);
    at += length;
    size += length;
  }

  /** The two codes of a block that brings its own. */
  function codes() {
    const [literals, distances, lengths] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const own = new Array(19).fill(0);
    for (let i = 0; i < lengths; i++) own[ORDER[i]] = bits(3);
    const code = huffman(own);
    /** @type {number[]} */
    const all = [];
    while (all.length < literals + distances) {
      const value = symbol(code);
      if (value < 16) all.push(value);
      else {
        const repeated = value === 16 ? (all.at(-1) ?? 0) : 0;
        const times = value === 16 ? 3 + bits(2) : value === 17 ? 3 + bits(3) : 11 + bits(7);
        for (let i = 0; i < times; i++) all.push(repeated);
      }
    }
    return [huffman(all.slice(0, literals)), huffman(all.slice(literals))];
  }

  function fixed() {
    const lengths = Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
    return [huffman(lengths), huffman(new Array(30).fill(5))];
  }

  /** @param {ReturnType<typeof huffman>[]} both */
  function block([literal, distance]) {
    for (;;) {
      const value = symbol(literal);
      if (value === 256) return;
      if (value < 256) {
        grow(1);
        result[size++] = value;
        continue;
      }
      const length = LENGTHS[value - 257] + bits(LENGTH_BITS[value - 257]);
      const far = symbol(distance);
      const back = DISTANCES[far] + bits(DISTANCE_BITS[far]);
      if (back > size) throw new Error("The compressed data is damaged.");
      grow(length);
      for (let i = 0; i < length; i++, size++) result[size] = result[size - back];
    }
  }

  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 3) throw new Error("The compressed data is damaged.");
    if (kind === 0) stored();
    else block(kind === 1 ? fixed() : codes());
  }
  return result.subarray(0, size);
}
