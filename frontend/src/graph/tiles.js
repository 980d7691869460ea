// Bitmaps of the drawing, square by square, so that panning only copies: a square is painted once a scale, when it is first seen.

const SIDE = 384; // of a square, in screen pixels
const BUDGET = 7; // milliseconds of painting in one frame; at least one square is painted
const KEEP = 72; // squares at one device pixel per pixel

/** `paint(context, scale, box)` draws a box of the scene; the context is in the scene's units. */
export function createTiles(paint) {
  let squares = new Map(),
    scale = 0,
    ratio = 1;
  let ghost = null; // the squares of the last scale, shown stretched until the new ones are there
  const spare = [];

  /**
   * @param {number} i
   * @param {number} j
   */
  function square(i, j) {
    const side = SIDE * ratio,
      canvas = spare.pop() ?? document.createElement("canvas");
    if (canvas.width !== side) canvas.width = canvas.height = side;
    const g = canvas.getContext("2d");
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, side, side);
    g.setTransform(scale * ratio, 0, 0, scale * ratio, -i * side, -j * side);
    const rim = 14 / scale;
    paint(g, scale, [
      (i * SIDE) / scale - rim,
      (j * SIDE) / scale - rim,
      ((i + 1) * SIDE) / scale + rim,
      ((j + 1) * SIDE) / scale + rim,
    ]);
    return canvas;
  }

  const drop = (map) => {
    for (const canvas of map?.values() ?? []) if (spare.length < 24) spare.push(canvas);
  };

  function prune(wanted) {
    const most = Math.max(wanted.size + 8, KEEP / (ratio * ratio));
    for (const key of squares.keys()) {
      if (squares.size <= most) return;
      if (wanted.has(key)) continue;
      spare.push(squares.get(key));
      squares.delete(key);
    }
  }

  return {
    /** Forgets every bitmap; the old ones stay on the screen until the new ones are painted. */
    clear() {
      if (squares.size) {
        drop(ghost?.squares);
        ghost = { squares, scale };
      }
      squares = new Map();
    },
    reset() {
      drop(squares);
      drop(ghost?.squares);
      squares = new Map();
      ghost = null;
    },
    /**
     * Copies what the camera sees to `g` (in device pixels); returns whether all of it was there. While `moving`, a new scale is not painted.
     * @param {null | CanvasRenderingContext2D} g
     * @param {{ k: number; x: number; y: number; }} camera
     * @param {number} width
     * @param {number} height
     * @param {number} dpr
     * @param {boolean} moving
     */
    draw(g, camera, width, height, dpr, moving) {
      if (dpr !== ratio) this.reset();
      ratio = dpr;
      if (camera.k !== scale && !moving) {
        this.clear();
        scale = camera.k;
      }
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.clearRect(0, 0, width * dpr, height * dpr);
      if (camera.k !== scale) {
        stretched(g, squares, scale, camera, width, height);
        return true;
      }
      /**
       * @param {number} offset
       * @param {number} room
       */
      const range = (offset, room) => [Math.floor(-offset / SIDE), Math.floor((room - offset) / SIDE)];
      const [i0, i1] = range(camera.x, width),
        [j0, j1] = range(camera.y, height);
      const wanted = new Set(),
        missing = [];
      for (let j = j0; j <= j1; j++)
        for (let i = i0; i <= i1; i++) {
          wanted.add(`${i} ${j}`);
          if (!squares.has(`${i} ${j}`)) missing.push([i, j]);
        }
      const end = performance.now() + BUDGET;
      let painted = 0;
      for (const [i, j] of missing) {
        if (painted && performance.now() > end) break;
        squares.set(`${i} ${j}`, square(i, j));
        painted++;
      }
      if (painted < missing.length && ghost) stretched(g, ghost.squares, ghost.scale, camera, width, height);
      const x = Math.round(camera.x * dpr),
        y = Math.round(camera.y * dpr);
      for (let j = j0; j <= j1; j++)
        for (let i = i0; i <= i1; i++) {
          const canvas = squares.get(`${i} ${j}`);
          if (!canvas) continue;
          if (ghost && painted < missing.length)
            g.clearRect(x + i * SIDE * dpr, y + j * SIDE * dpr, SIDE * dpr, SIDE * dpr);
          g.drawImage(canvas, x + i * SIDE * dpr, y + j * SIDE * dpr);
        }
      if (painted === missing.length) {
        drop(ghost?.squares);
        ghost = null;
      }
      prune(wanted);
      return painted === missing.length;
    },
  };

  /**
   * @param {number} was
   * @param {null | CanvasRenderingContext2D} g
   * @param {{ k: number; x: number; y: number; }} camera
   * @param {number} width
   * @param {number} height
   */
  function stretched(g, map, was, camera, width, height) {
    const side = (SIDE * camera.k * ratio) / was;
    for (const [key, canvas] of map) {
      const [i, j] = key.split(" ").map(Number);
      const x = camera.x * ratio + i * side,
        y = camera.y * ratio + j * side;
      if (x + side < 0 || y + side < 0 || x > width * ratio || y > height * ratio) continue;
      g.drawImage(canvas, x, y, side, side);
    }
  }
}
