// What a view must hold before it is drawn. A file can be cut short or edited; an index that points
// nowhere must end in a sentence, not in half a picture.

/** Damage in a view's data; its message says where. */
export class Damage extends Error {
  /** @param {string} where */
  constructor(where) {
    super(
      `This view cannot be drawn: its data is damaged (${where}). Generate it again with relay_explorer.`,
    );
  }
}

/**
 * @param {unknown} condition
 * @param {string} where
 * @returns {asserts condition}
 */
export function need(condition, where) {
  if (!condition) throw new Damage(where);
}
