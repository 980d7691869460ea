// Bytes as text and back: base64 for what travels in scripts and addresses, and the browser's own compression.

/**
 * @param {string} text base64, also the variant for addresses
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromBase64(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} base64 for addresses, without padding
 */
export function toBase64(bytes) {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192)
    binary += String.fromCharCode(...bytes.subarray(i, Math.min(i + 8192, bytes.length)));
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/**
 * Reads a stream to its end; beyond `limit` bytes it is an error, however small the compressed text was.
 * @param {ReadableStream<Uint8Array>} stream
 * @param {number} limit
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function all(stream, limit) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * @param {BlobPart} bytes
 * @param {GenericTransformStream} through
 * @param {number} limit
 */
const piped = (bytes, through, limit) => all(new Blob([bytes]).stream().pipeThrough(through), limit);

/**
 * @param {string} base64 of what gzip made
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export const inflated = (base64) => piped(fromBase64(base64), new DecompressionStream("gzip"), Infinity);

/**
 * @param {string} text
 * @returns {Promise<Uint8Array>}
 */
export const packed = (text) => piped(text, new CompressionStream("deflate-raw"), Infinity);

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} limit
 */
export const unpacked = (bytes, limit) => piped(bytes, new DecompressionStream("deflate-raw"), limit);
