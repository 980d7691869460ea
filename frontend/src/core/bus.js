// Linked highlighting: whoever is hovered or focused says so here, and every column marks it.

/** A bus of named events; `on` returns the function that unsubscribes. */
export function createBus() {
  const listeners = new Map();
  return {
    on(event, listener) {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event).add(listener);
      return () => listeners.get(event).delete(listener);
    },
    emit(event, value) {
      for (const listener of listeners.get(event) ?? []) listener(value);
    },
  };
}
