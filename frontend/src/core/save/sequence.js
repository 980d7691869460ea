// Every step of an explorer as a picture: a film, or numbered files for slides.
import { svgText } from "./draw.js";
import { createGif } from "./gif.js";
import { rasterize } from "./raster.js";
import { zip } from "./zip.js";

/**
 * @typedef {object} Sequence
 * @property {readonly number[]} range the steps
 * @property {(step: number) => void} go
 * @property {() => SVGSVGElement} picture
 * @property {(done: number) => void} progress
 * @property {() => boolean} stopped
 */

/** Until the browser has drawn: what a step changes may be laid out later. A page in the background draws nothing. */
const drawn = () =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 200);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve(undefined);
      }),
    );
  });

/** @param {Sequence} sequence */
async function* pictures({ range, go, picture, progress, stopped }) {
  for (const [i, step] of range.entries()) {
    if (stopped()) return;
    go(step);
    await drawn();
    progress(i + 1);
    const drawing = picture();
    const { width, height } = drawing;
    yield { step, text: svgText(drawing), width: width.baseVal.value, height: height.baseVal.value };
  }
}

/**
 * Null if it was stopped.
 * @param {Sequence} sequence
 */
export async function zipOfSteps(sequence) {
  const files = [];
  const digits = String(sequence.range.at(-1) ?? 0).length;
  for await (const { step, text } of pictures(sequence))
    files.push({
      name: `step-${String(step + 1).padStart(digits, "0")}.svg`,
      data: new TextEncoder().encode(text),
    });
  return files.length === sequence.range.length ? zip(files) : null;
}

/**
 * Null if it was stopped.
 * @param {Sequence & { seconds: number }} sequence
 */
export async function gifOfSteps(sequence) {
  const drawings = [];
  for await (const drawing of pictures(sequence)) drawings.push(drawing);
  if (drawings.length !== sequence.range.length) return null;
  const width = Math.max(...drawings.map((drawing) => drawing.width));
  const height = Math.max(...drawings.map((drawing) => drawing.height));
  const gif = createGif(width, height);
  for (const { text } of drawings) {
    const canvas = await rasterize(text, width, height, 1);
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, width, height);
    if (pixels) gif.add(pixels, sequence.seconds);
  }
  return new Blob([/** @type {BlobPart} */ (gif.finish())], { type: "image/gif" });
}
