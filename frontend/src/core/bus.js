// Linked highlighting: an element that is hovered or focused emits an event here, and every column marks its counterpart.

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
