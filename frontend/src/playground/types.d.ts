// What the modules of the playground share.

/** The files that a worker is made of, compressed, as base64: what the scripts beside the page hand over. */
export interface Parts {
  worker: string;
  wasm: string;
  /** Python's memory, with the package loaded. */
  memory: string;
}

export type ToWorker =
  | { parts: Omit<Parts, "worker">; module: WebAssembly.Module | null }
  | { id: number; request: string }
  | { id: number; model: ModelBytes; importer: string };

/** A file with a model. */
export interface ModelBytes {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export type FromWorker =
  { ready: true } | { module: WebAssembly.Module } | { failed: string } | { id: number; answer: string };

/** [line, column, end line, end column], from 1. */
export type Place = [number, number, number, number];

export interface Note {
  message: string;
  place: Place | null;
}

export interface Problem extends Note {
  notes: Note[];
  help: string[];
}

export type Options = { args?: string[]; passes?: string; against?: string; limit?: string };

/** What `Session.answer` in relay_explorer/playground takes. */
export interface Request {
  text: string;
  view: string;
  options: Options;
}

/** What `Session.answer` returns. */
export interface Answer {
  view: any;
  problems: Problem[];
  tokens: number[];
  params: [string, string][];
  seconds: number;
}

/** What `Session.open` returns: the text of a model's program, or null where the file has none. */
export interface Opened {
  text: string | null;
  problems: Problem[];
  seconds: number;
}

export interface Example {
  title: string;
  view: string;
  text: string;
  options: Options;
}

/** What `description()` in relay_explorer/playground returns. */
export interface Description {
  views: { name: string; help: string; options: string[] }[];
  /** In bytes. */
  largest_model: number;
  passes: { usage: string; summary: string }[];
  examples: Example[];
}

/** A program as a link holds it. */
export interface Saved {
  text: string;
  view: string;
  options: Options;
  state: string;
}
