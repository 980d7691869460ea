// A picture as pixels.

/**
 * @param {string} svg
 * @param {number} width
 * @param {number} height
 * @param {number} scale
 * @param {string} paper what stands where the picture does not reach
 * @returns {Promise<HTMLCanvasElement>}
 */
export async function rasterize(svg, width, height, scale, paper = "#ffffff") {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const g = canvas.getContext("2d", { willReadFrequently: true });
  if (!g) throw new Error("This browser gives no canvas to draw on.");
  g.fillStyle = paper;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(image, 0, 0, image.width * scale, image.height * scale);
  return canvas;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {Promise<Blob>}
 */
export const pngOf = (canvas) =>
  new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for this browser."))),
      "image/png",
    );
  });
