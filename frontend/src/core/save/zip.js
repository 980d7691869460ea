// ZIP archives of files that are stored as they are.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let k = 0; k < 8; k++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

/** @param {Uint8Array} data */
export function crc32(data) {
  let value = 0xffffffff;
  for (const byte of data) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

const DATE = 0x5a21; // 2025-01-01: the same files give the same archive
const UTF8 = 0x800;

/**
 * @param {readonly { name: string, data: Uint8Array }[]} files
 * @returns {Blob}
 */
export function zip(files) {
  /** @type {Uint8Array[]} */
  const parts = [];
  /** @type {Uint8Array[]} */
  const directory = [];
  let offset = 0;
  /** @param {readonly [bytes: number, value: number][]} fields */
  const record = (fields) => {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
    let at = 0;
    for (const [bytes, value] of fields) {
      if (bytes === 4) view.setUint32(at, value, true);
      else view.setUint16(at, value, true);
      at += bytes;
    }
    return new Uint8Array(view.buffer);
  };
  for (const { name, data } of files) {
    const path = new TextEncoder().encode(name);
    /** @type {[number, number][]} */
    const common = [
      [2, 20],
      [2, UTF8],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc32(data)],
      [4, data.length],
      [4, data.length],
      [2, path.length],
      [2, 0],
    ];
    const head = record([[4, 0x04034b50], ...common]);
    parts.push(head, path, data);
    directory.push(
      record([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]),
      path,
    );
    offset += head.length + path.length + data.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, length],
    [4, offset],
    [2, 0],
  ]);
  return new Blob(/** @type {BlobPart[]} */ ([...parts, ...directory, end]), { type: "application/zip" });
}
