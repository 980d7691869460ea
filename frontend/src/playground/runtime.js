// Python in a worker: it is loaded when it is first asked for, answers one request at a time, and is ended and started again
// when it takes too long or the reader stops it. The page itself never waits.
import { inflated } from "../core/bytes.js";
/** @import { Answer, FromWorker, ModelBytes, Opened, Parts, Request, ToWorker } from "./types.js" */

const MAX_SECONDS = 20;

/** @typedef {"off" | "loading" | "ready" | "busy" | "failed"} Status */

/** A request that was stopped, or that is out of date. */
export class Stopped extends Error {}

export class Runtime {
  /** @type {Status} */
  status = "off";
  /** @type {Worker | null} */
  worker = null;
  /** @type {WebAssembly.Module | null} */
  module = null;
  /** @type {Promise<void> | null} */
  started = null;
  /** @type {{ id: number, resolve(answer: any): void, reject(error: Error): void, timer: number } | null} */
  waiting = null;
  /** The file with a model that was opened, the text of its program, and whether the worker has it. @type {{ file: File, text: string, held: boolean } | null} */
  model = null;
  number = 0;

  /**
   * @param {{ load(): Promise<Parts>, loadImporter(): Promise<string>, onStatus(status: Status, text: string): void, seconds?: number }} hooks
   */
  constructor({ load, loadImporter, onStatus, seconds = MAX_SECONDS }) {
    this.load = load;
    this.loadImporter = loadImporter;
    this.onStatus = onStatus;
    this.seconds = seconds;
  }

  /**
   * @param {Status} status
   * @param {string} text
   */
  tell(status, text) {
    this.status = status;
    this.onStatus(status, text);
  }

  /** Loads Python, once; a second call waits for the first. */
  start() {
    this.started ??= this.begin().catch((error) => {
      this.started = null;
      this.tell("failed", error.message);
      throw error;
    });
    return this.started;
  }

  async begin() {
    this.tell("loading", "Loading Python …");
    if (typeof DecompressionStream !== "function" || typeof WebAssembly !== "object")
      throw new Error("This browser is too old to run Python: Safari 16.4, Firefox 115 or Chrome 109 can.");
    const { worker: code, ...parts } = await this.load();
    const source = new Blob([await inflated(code)], { type: "text/javascript" });
    const url = URL.createObjectURL(source);
    try {
      await new Promise((resolve, reject) => {
        const worker = new Worker(url);
        this.worker = worker;
        worker.onerror = (event) => {
          event.preventDefault();
          const error = new Error(event.message || "The browser does not start a worker in this page.");
          reject(error);
          this.broken(error);
        };
        worker.onmessage = (/** @type {MessageEvent<FromWorker>} */ { data }) => {
          if ("module" in data) this.module = data.module;
          else if ("ready" in data) resolve(undefined);
          else if ("failed" in data) {
            const error = new Error(data.failed);
            reject(error);
            this.broken(error);
          } else this.answered(data.id, data.answer);
        };
        this.send({ parts, module: this.module });
      });
    } finally {
      URL.revokeObjectURL(url);
    }
    this.tell("ready", "Ready");
  }

  /**
   * @param {ToWorker} message
   * @param {Transferable[]} [moved]
   */
  send(message, moved = []) {
    this.worker?.postMessage(message, moved);
  }

  /**
   * @param {Request} request
   * @returns {Promise<Answer>}
   */
  async ask(request) {
    await this.start();
    // A worker that was started anew has lost the model to which the text belongs.
    if (this.model?.text === request.text && !this.model.held) await this.open(this.model.file);
    return this.exchange(
      (id) => this.send({ id, request: JSON.stringify(request) }),
      "Working …",
      "The program does not end, or it is very large. Fewer recorded steps or smaller arguments help. Press Run to start again.",
    );
  }

  /**
   * Opens the model in a file. The page keeps the file, and reads it again for another worker.
   * @param {File} file
   * @returns {Promise<Opened>}
   */
  async open(file) {
    await this.start();
    const [importer, bytes] = await Promise.all([this.loadImporter(), file.arrayBuffer()]);
    /** @type {ModelBytes} */
    const model = { name: file.name, bytes: new Uint8Array(bytes) };
    /** @type {Opened} */
    const opened = await this.exchange(
      (id) => this.send({ id, model, importer }, [bytes]),
      `Opening ${file.name} …`,
      "The model is too large for this page. The command relay-explorer serve opens it on your machine.",
    );
    if (opened.text !== null) this.model = { file, text: opened.text, held: true };
    return opened;
  }

  /**
   * Sends a message, and waits for its answer up to the time limit. Then the worker is ended, because Python cannot be
   * interrupted from outside.
   * @param {(id: number) => void} send
   * @param {string} doing
   * @param {string} advice what to say when it takes too long
   * @returns {Promise<any>}
   */
  exchange(send, doing, advice) {
    if (this.waiting) throw new Error("one request at a time");
    const id = ++this.number;
    this.tell("busy", doing);
    return new Promise((resolve, reject) => {
      const timer = window.setTimeout(
        () => this.stop(`Stopped after ${this.seconds} seconds. ${advice}`),
        this.seconds * 1000,
      );
      this.waiting = { id, resolve, reject, timer };
      send(id);
    });
  }

  /**
   * @param {number} id
   * @param {string} text
   */
  answered(id, text) {
    if (this.waiting?.id !== id) return;
    const { resolve, timer } = this.waiting;
    clearTimeout(timer);
    this.waiting = null;
    this.tell("ready", "Ready");
    resolve(JSON.parse(text));
  }

  /** @param {Error} error */
  broken(error) {
    const { waiting } = this;
    this.end();
    this.tell("failed", "Python failed.");
    clearTimeout(waiting?.timer);
    waiting?.reject(error);
  }

  /** Ends the worker; the next request starts another, from what was loaded already. */
  end() {
    this.worker?.terminate();
    this.worker = null;
    this.started = null;
    this.waiting = null;
    if (this.model) this.model.held = false;
  }

  /** @param {string} why */
  stop(why = "Stopped. Your text is kept. Press Run to start again.") {
    const { waiting } = this;
    this.end();
    this.tell("off", why);
    clearTimeout(waiting?.timer);
    waiting?.reject(new Stopped(why));
  }
}

/**
 * The parts from the scripts beside the page: scripts, because a page that was opened as a file may load nothing else.
 * @param {string} base
 * @returns {() => Promise<Parts>}
 */
export const partsFrom = (base) =>
  once(async () => {
    await Promise.all(["python.js", "package.js"].map((name) => script(base + name)));
    return /** @type {any} */ (window).relayPlaygroundParts;
  });

/**
 * The importer of ONNX files, which is needed only when the first is opened.
 * @param {string} base
 * @returns {() => Promise<string>}
 */
export const importerFrom = (base) =>
  once(async () => {
    await script(`${base}onnx.js`);
    return /** @type {any} */ (window).relayPlaygroundParts.onnx;
  });

/**
 * Loads once; after a failure, the next call tries again.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {() => Promise<T>}
 */
function once(load) {
  /** @type {Promise<T> | null} */
  let loaded = null;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

/** @param {string} src */
const script = (src) =>
  new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = src;
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(
        new Error(
          `The file ${src.replace(/.*\//, "")} is missing: this copy of the book was built without npm. ` +
            "`make html` with npm installed adds it.",
        ),
      );
    };
    document.head.append(element);
  });
