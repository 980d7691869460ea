// What the modules of the front end hand to one another.

/** The state of an explorer as its token's pairs, as they are read. */
export type State = Record<string, string | undefined>;

/** The state of an explorer as it is written: defaults are empty and left out. */
export type Token = Record<string, string | number | boolean | null | undefined>;

/** Says of a row or of a step whether it is shown; null keeps all. */
export type Keep = ((index: number) => boolean) | null;

/** What may stand in an element. */
export type Child = Node | string | number | false | null | undefined | readonly Child[];

/** An element's attributes: functions are listeners, `style` may be an object. */
export type Attributes = Record<string, unknown> & { [listener: `on${string}`]: (event: any) => unknown };

/** What `mount` gives to a view's drawing. */
export interface Context {
  name: string;
  /** The state to start from. */
  state: State;
  /** In a notebook's frame, without an address. */
  embedded: boolean;
  on(event: string, listener: (value: any) => void): () => void;
  /** Asks the kernel; null where none can answer. */
  ask: ((question: Record<string, unknown>) => void) | null;
  /** Where the playground is; `here` if on the same site. Null in the playground itself. */
  playground: { address: string; here: boolean } | null;
  /** Whether the reader asked for less motion. */
  reduced(): boolean;
  /** The value of a token of theme.css. */
  color(property: string): string;
  link(): { token: string; url: string | null };
  /** Where the reader was: call `places.remember()` before a jump. */
  places: ReturnType<typeof import("./history.js").createHistory>;
  /** The reader's bookmarks; `here()` is the present state, `visit(token)` shows one. */
  bookmarks: ReturnType<typeof import("./history.js").createBookmarks> & {
    here(): string;
    visit(token: string): void;
  };
  /** Call after anything that the token holds changes. */
  changed(): void;
  /** Where an explorer has several forms (`forms.js`): shows the next one. */
  other?(): void;
}

/** What a view's `mount` returns. */
export interface Drawing {
  token(): Token;
  restore(state: State): void;
  destroy(): void;
}

/** Draws a view in the empty element `root`. */
export type Mount = (root: HTMLElement, view: any, ctx: Context) => Drawing;

/** A kind of step: its shape and what it is called. */
export interface Mark {
  id: string;
  shape: string;
  label: string;
  /** Drawn above the bins of a long run, where there is room. */
  rare?: boolean;
  /** Drawn above the bins of a long run wherever it occurs. */
  always?: boolean;
}

/** A key that was pressed, on an element. */
export type KeyEvent = KeyboardEvent & { target: Element };

/** A key, or several, and what they do. `run` returning false lets the event go on. */
export interface Binding {
  keys: string[];
  /** The keys as the help prints them, if other than their names. */
  shown?: string[];
  label?: string;
  /** Whether it also applies while the reader types. */
  typing?: boolean;
  run(event: KeyEvent): unknown;
}

/** A row of the program under the pointer, and what the token there names. */
export interface Hit {
  row: number;
  ref: number;
  target: Element;
}

/** A column beside the program. */
export interface Column {
  id: string;
  title?: string;
  width: string;
  /** How many lines a row takes. */
  lines?(row: number): number;
  /** Fills a cell; called again by `update(row)`. */
  draw(row: number, cell: HTMLElement): void;
}

/** What an explorer does when something happens to its rows. */
export interface RowHooks {
  select?(row: number, byReader: boolean): unknown;
  hover?(hit: Hit | null): unknown;
  /** After anything moved; `columns`: they may have moved, too. */
  layout?(columns: boolean): unknown;
  fold?(): unknown;
  /** On a double click. */
  activate?(row: number): unknown;
}

/** What `createRows` draws, and how. */
export interface RowsOptions {
  view: import("./operators.js").View;
  label: string;
  /** After the program's own. */
  columns?: readonly Column[];
  hooks?: RowHooks;
  lineHeight?: number;
  /** Whether the program's column is as wide as its longest line, within reason. */
  fit?: boolean;
  /** Whether long runs of parameters fold. */
  foldLists?: boolean;
  /** Stands above the program's own column. */
  title?: string;
  /** What a folded block says of its hidden rows. */
  note?: ((row: number, hidden: number) => string) | null;
  /** A further class of a row's tokens, by their index. */
  tokenClass?: ((row: number) => (token: number) => string) | null;
}

/** The program's rows, as `createRows` returns them. */
export type Rows = ReturnType<typeof import("./rows.js").createRows>;
export type Search = ReturnType<typeof import("./search.js").createSearch>;
export type Tabs = ReturnType<typeof import("./tabs.js").createTabs>;
export type Frame = ReturnType<typeof import("./frame.js").createFrame>;
export type Timeline = ReturnType<typeof import("./timeline.js").createTimeline>;
export type Transport = ReturnType<typeof import("./transport.js").createTransport>;

/** What a search box says. */
export interface Query {
  query: string;
  scope: string;
  only: boolean;
}

/** What a search found: how much, and what is wrong with the query. */
export interface Hits {
  count: number;
  problem: string;
}

/** The hits in their order, which of them is shown, and how many weaker ones are left out. */
export interface Listed {
  at: number;
  weaker: number;
  entries: { number: string; text: string; group: string }[];
}

/** Where a search looks. */
export interface Scope {
  id: string;
  label: string;
}
