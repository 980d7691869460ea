// Where a reader was: places to go back to and forward again, and bookmarks. A place is an explorer's whole state, as a token.

const MOST_PLACES = 100;
export const MOST_BOOKMARKS = 12;
const LONGEST_NAME = 60;
/** A bookmark's token, so that a link with all of them can still be sent. */
const LONGEST_TOKEN = 400;
const KEY = "relay-explorer bookmarks";

/** @typedef {{ name: string, token: string }} Bookmark */

/**
 * Back and forth: `now()` is the present state, `show(token)` shows another, `moved()` is called when what can be reached
 * changes.
 * @param {{ now: () => string, show: (token: string) => unknown, moved: () => unknown }} options
 */
export function createHistory({ now, show, moved }) {
  /** @type {string[]} */
  let past = [];
  /** @type {string[]} */
  let future = [];

  /**
   * @param {string[]} from
   * @param {string[]} to
   */
  function go(from, to) {
    const here = now();
    while (from.at(-1) === here) from.pop();
    const token = from.pop();
    if (token === undefined) return false;
    to.push(here);
    show(token);
    moved();
    return true;
  }

  return {
    /** Notes the present state before the reader jumps away from it. */
    remember() {
      const here = now();
      if (past.at(-1) !== here) past.push(here);
      past = past.slice(-MOST_PLACES);
      future = [];
      moved();
    },
    back: () => go(past, future),
    forward: () => go(future, past),
    get canBack() {
      return past.length > 0;
    },
    get canForward() {
      return future.length > 0;
    },
  };
}

/**
 * Bookmarks as a token holds them: name and state, each escaped.
 * @param {readonly Bookmark[]} marks
 */
export const formatBookmarks = (marks) =>
  marks.map(({ name, token }) => `${encodeURIComponent(name)}=${encodeURIComponent(token)}`).join("|");

/**
 * The inverse; what is damaged is left out.
 * @param {string | null | undefined} text
 * @returns {Bookmark[]}
 */
export function parseBookmarks(text) {
  /** @type {Bookmark[]} */
  const out = [];
  for (const part of (text ?? "").split("|").slice(0, MOST_BOOKMARKS)) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    try {
      const name = decodeURIComponent(part.slice(0, at)).slice(0, LONGEST_NAME);
      const token = decodeURIComponent(part.slice(at + 1));
      if (name.trim() && token.length <= LONGEST_TOKEN) out.push({ name, token });
    } catch {
      // A damaged escape is a damaged bookmark.
    }
  }
  return out;
}

/**
 * The bookmarks of an explorer. Where `store` is a name, the browser keeps them under it for this page.
 * @param {{ store: string, changed: () => unknown }} options
 */
export function createBookmarks({ store, changed }) {
  const key = `${KEY} ${store}`;
  /** @type {Bookmark[]} */
  let list = [];
  let keeps = store !== "";

  function write() {
    if (!keeps) return;
    try {
      if (list.length) localStorage.setItem(key, formatBookmarks(list));
      else localStorage.removeItem(key);
    } catch {
      keeps = false; // storage is off, or full: the link still has them
    }
  }
  /** @param {readonly Bookmark[]} more */
  function merge(more) {
    for (const mark of more)
      if (list.length < MOST_BOOKMARKS && !list.some(({ token }) => token === mark.token)) list.push(mark);
  }
  try {
    if (keeps) merge(parseBookmarks(localStorage.getItem(key)));
  } catch {
    keeps = false;
  }

  return {
    get list() {
      return list;
    },
    /** Whether the browser keeps them, so that the address need not. */
    get stored() {
      return keeps;
    },
    text: () => formatBookmarks(list),
    /** @param {string | undefined} text */
    take(text) {
      if (!text) return;
      merge(parseBookmarks(text));
      write();
    },
    /**
     * Adds a bookmark; returns what is wrong, or "".
     * @param {string} name
     * @param {string} token
     */
    add(name, token) {
      const called = name.trim().slice(0, LONGEST_NAME);
      if (!called) return "A bookmark needs a name.";
      if (list.length >= MOST_BOOKMARKS)
        return `There are ${MOST_BOOKMARKS} bookmarks already: delete one first.`;
      if (token.length > LONGEST_TOKEN) return "This state is too long for a bookmark: shorten the search.";
      list = [...list.filter((mark) => mark.token !== token), { name: called, token }];
      write();
      changed();
      return "";
    },
    /** @param {number} index */
    remove(index) {
      list = list.filter((_, at) => at !== index);
      write();
      changed();
    },
  };
}
