// Animated GIFs (GIF89a): every frame holds the rectangle that changed, with up to 256 colors of its own.

/** @typedef {{ data: Uint8ClampedArray, width: number, height: number }} Pixels */

const COLORS = 256;

class Bytes {
  constructor() {
    this.data = new Uint8Array(1 << 16);
    this.size = 0;
  }

  /** @param {ArrayLike<number>} values */
  put(values) {
    if (this.size + values.length > this.data.length) {
      const larger = new Uint8Array(2 * (this.size + values.length));
      larger.set(this.data);
      this.data = larger;
    }
    this.data.set(values, this.size);
    this.size += values.length;
  }

  /** @param {...number} values of 16 bits */
  words(...values) {
    for (const value of values) this.put([value & 255, value >> 8]);
  }

  /** @param {string} text */
  text(text) {
    this.put([...text].map((letter) => letter.charCodeAt(0)));
  }

  take() {
    return this.data.slice(0, this.size);
  }
}

const rgb = (/** @type {Uint8ClampedArray} */ data, /** @type {number} */ i) =>
  (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2];

/**
 * @param {number} a
 * @param {number} b
 */
function distance(a, b) {
  const [red, green, blue] = [
    (a >> 16) - (b >> 16),
    ((a >> 8) & 255) - ((b >> 8) & 255),
    (a & 255) - (b & 255),
  ];
  return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

/**
 * Chooses a palette: all colors if there are few; else the most frequent ones, and those that are farthest from them.
 * @param {Uint32Array} pixels
 * @returns {{ palette: number[], indexOf: (color: number) => number }}
 */
export function quantize(pixels) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  let candidates = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (candidates.length > COLORS) {
    // Colors that look the same count as the most frequent of them.
    /** @type {Map<number, [number, number]>} */
    const buckets = new Map();
    for (const [color, count] of candidates) {
      const key = ((color >> 9) & 0x7c00) | ((color >> 6) & 0x3e0) | ((color >> 3) & 0x1f);
      const bucket = buckets.get(key);
      if (bucket) bucket[1] += count;
      else buckets.set(key, [color, count]);
    }
    candidates = [...buckets.values()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }
  const palette = candidates.slice(0, candidates.length > COLORS ? 192 : COLORS).map(([color]) => color);
  const rest = candidates.slice(palette.length).map(([color]) => ({
    color,
    far: palette.reduce((least, other) => Math.min(least, distance(color, other)), Infinity),
  }));
  while (rest.length && palette.length < COLORS) {
    const farthest = rest.reduce((best, one) => (one.far > best.far ? one : best));
    if (farthest.far === 0) break;
    palette.push(farthest.color);
    for (const one of rest) one.far = Math.min(one.far, distance(one.color, farthest.color));
  }
  /** @type {Map<number, number>} */
  const nearest = new Map(palette.map((color, i) => [color, i]));
  const indexOf = (/** @type {number} */ color) => {
    let index = nearest.get(color);
    if (index !== undefined) return index;
    index = 0;
    let least = Infinity;
    for (let i = 0; i < palette.length; i++) {
      const far = distance(color, palette[i]);
      if (far < least) [least, index] = [far, i];
    }
    nearest.set(color, index);
    return index;
  };
  return { palette, indexOf };
}

/**
 * The variable-length-code LZW compression of GIF, in blocks of up to 255 bytes.
 * @param {Bytes} out
 * @param {Uint8Array} indices
 * @param {number} depth bits of an index
 */
function compress(out, indices, depth) {
  const start = Math.max(2, depth);
  const [clear, end] = [1 << start, (1 << start) + 1];
  out.put([start]);
  const block = new Uint8Array(255);
  let [used, held, bits, size, next] = [0, 0, 0, start + 1, end + 1];
  /** @type {Map<number, number>} */
  let codes = new Map();
  const byte = (/** @type {number} */ value) => {
    block[used++] = value;
    if (used < 255) return;
    out.put([255]);
    out.put(block);
    used = 0;
  };
  const emit = (/** @type {number} */ code) => {
    held |= code << bits;
    bits += size;
    for (; bits >= 8; bits -= 8, held >>>= 8) byte(held & 255);
  };
  emit(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = (prefix << 8) | indices[i];
    const code = codes.get(key);
    if (code !== undefined) {
      prefix = code;
      continue;
    }
    emit(prefix);
    if (next === 4096) {
      emit(clear);
      codes = new Map();
      [size, next] = [start + 1, end + 1];
    } else {
      if (next >= 1 << size) size++;
      codes.set(key, next++);
    }
    prefix = indices[i];
  }
  emit(prefix);
  emit(end);
  if (bits > 0) byte(held & 255);
  if (used) {
    out.put([used]);
    out.put(block.subarray(0, used));
  }
  out.put([0]);
}

/**
 * @param {number} width
 * @param {number} height
 */
export function createGif(width, height) {
  const out = new Bytes();
  /** @type {Uint32Array | null} */
  let before = null;
  out.text("GIF89a");
  out.words(width, height);
  out.put([0x70, 0, 0]);
  out.put([0x21, 0xff, 11]);
  out.text("NETSCAPE2.0");
  out.put([3, 1, 0, 0, 0]); // for ever

  /**
   * The rectangle of the pixels that differ from the frame before; at least one pixel.
   * @param {Uint32Array} pixels
   */
  function changed(pixels) {
    if (!before) return { left: 0, top: 0, right: width, bottom: height };
    let [left, top, right, bottom] = [width, height, 0, 0];
    for (let y = 0, i = 0; y < height; y++)
      for (let x = 0; x < width; x++, i++)
        if (pixels[i] !== before[i]) {
          if (x < left) left = x;
          if (x >= right) right = x + 1;
          if (y < top) top = y;
          bottom = y + 1;
        }
    return right ? { left, top, right, bottom } : { left: 0, top: 0, right: 1, bottom: 1 };
  }

  return {
    /**
     * @param {Pixels} image of the GIF's size
     * @param {number} seconds
     */
    add(image, seconds) {
      const pixels = Uint32Array.from({ length: width * height }, (_, i) => rgb(image.data, i));
      const { left, top, right, bottom } = changed(pixels);
      const [w, h] = [right - left, bottom - top];
      const part = new Uint32Array(w * h);
      for (let y = 0; y < h; y++)
        part.set(pixels.subarray((top + y) * width + left, (top + y) * width + right), y * w);
      const { palette, indexOf } = quantize(part);
      const depth = Math.max(1, Math.ceil(Math.log2(palette.length)));
      out.put([0x21, 0xf9, 4, 4]); // what is not changed stays
      out.words(Math.round(seconds * 100));
      out.put([0, 0, 0x2c]);
      out.words(left, top, w, h);
      out.put([0x80 | (depth - 1)]);
      for (let i = 0; i < 1 << depth; i++) {
        const color = palette[i] ?? 0;
        out.put([color >> 16, (color >> 8) & 255, color & 255]);
      }
      compress(out, Uint8Array.from(part, indexOf), depth);
      before = pixels;
    },
    finish() {
      out.put([0x3b]);
      return out.take();
    },
  };
}
