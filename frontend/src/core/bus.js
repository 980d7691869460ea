// Linked highlighting: whoever is hovered or focused says so here, and every column marks it.

/** A bus of named events; `on` returns the function that unsubscribes. */
export function createBus() {
  /** @type {Map<string, Set<(value: any) => void>>} */
  const listeners = new Map();
  return {
    /**
     * @param {string} event
     * @param {(value: any) => void} listener
     */
    on(event, listener) {
      const own = listeners.get(event) ?? new Set();
      listeners.set(event, own.add(listener));
      return () => {
        own.delete(listener);
      };
    },
    /**
     * @param {string} event
     * @param {unknown} value
     */
    emit(event, value) {
      for (const listener of listeners.get(event) ?? []) listener(value);
    },
  };
}
