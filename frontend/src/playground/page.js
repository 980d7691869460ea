// The page of the playground: a program, what the compiler makes of it, and the choices between them.
import { fill, h } from "../core/dom.js";
import { createTabs } from "../core/tabs.js";
import { createEditor } from "./editor.js";
import { formatLink, parseLink } from "../core/programlink.js";
import { ViewOptions } from "./options.js";
import { Picture } from "./picture.js";
import { Problems } from "./problems.js";
import { Runtime, Stopped, importerFrom, partsFrom } from "./runtime.js";
/** @import { Answer, Description, Example, Options, Request, Saved } from "./types.js" */
/** @import { Status } from "./runtime.js" */

const PAUSE = 5; // ms after a key: while the worker is busy, later keys wait and become one request anyway
const MAX_FILE = 1_000_000; // bytes of a program's text
const BLANK = [9, 10, 12, 13]; // control characters that texts have

export class Playground {
  view = "";
  active = false;
  busy = false;
  again = false;
  /** The file with a model that is to be opened next. @type {File | null} */
  file = null;
  /** The state of the explorer that a link asks for, until it is drawn. @type {string | undefined} */
  wanted = undefined;
  timer = 0;
  saving = 0;
  /** Whether the reader asked to see the result: then a narrow page turns to it. */
  reveal = false;

  /**
   * @param {HTMLElement} root
   * @param {ShadowRoot} shadow
   * @param {Description} description
   * @param {string} base the address of the files beside the page's script
   */
  constructor(root, shadow, description, base) {
    this.root = root;
    this.description = description;
    this.runtime = new Runtime({
      load: partsFrom(base),
      loadImporter: importerFrom(base),
      onStatus: (status, text) => this.status(status, text),
    });
    this.build(shadow);
    window.addEventListener("hashchange", () => this.open());
  }

  // --- building -------------------------------------------------------------------------------------

  /** @param {ShadowRoot} shadow */
  build(shadow) {
    this.options = new ViewOptions(this.description, () => this.edited());
    this.picture = new Picture({ onState: () => this.save(), onWhy: () => this.showProblem() });
    /** @type {HTMLSelectElement} */
    this.examples = h(
      "select",
      { "aria-label": "example", onchange: () => this.example(this.examples?.value ?? "") },
      h("option", { value: "" }, "examples …"),
      this.description.examples.map(({ title }, i) => h("option", { value: i }, title)),
    );
    /** @type {HTMLSelectElement} */
    this.views = h(
      "select",
      { onchange: () => this.choose(this.views?.value ?? "types") },
      this.description.views.map(({ name, help }) => h("option", { value: name }, `${name}: ${help}`)),
    );
    this.run = this.button("Run", "Run: start Python, and show the program (Ctrl+Enter)", () => {
      this.editor?.blur(); // a phone's keyboard would hide what the reader asked for
      this.reveal = true;
      this.start();
    });
    this.run.classList.add("primary", "run");
    this.halt = this.button("Stop", "Stop: end the computation, and keep the text", () =>
      this.runtime.stop(),
    );
    this.halt.classList.add("run");
    this.halt.disabled = true;
    this.told = h("p", { class: "status", role: "status" });
    /** @type {HTMLInputElement} */
    const input = h("input", {
      type: "file",
      hidden: true,
      "aria-label": "file",
      onchange: () => this.read(input.files?.[0]).then(() => (input.value = "")),
    });
    const area = h("div", { class: "area" });
    this.problems = new Problems({
      go: (place) => {
        this.tabs?.select("program");
        this.editor?.go(place);
      },
      view: (name) => this.choose(name),
    });
    const program = h(
      "section",
      { class: "program", "aria-label": "program" },
      area,
      h(
        "p",
        { class: "keys", id: "pg-keys" },
        h("kbd", null, "Ctrl"),
        " ",
        h("kbd", null, "Enter"),
        " run, ",
        h("kbd", null, "Esc"),
        " leave the editor",
      ),
      this.problems.el,
    );
    this.invited = h(
      "p",
      null,
      "Press ",
      h("b", null, "Run"),
      " to load Python and the compiler into this page.",
    );
    this.invitation = h(
      "div",
      { class: "invitation" },
      this.invited,
      h(
        "p",
        null,
        "They come from this site, about 18 MB. What you write stays in this page: it is sent nowhere.",
      ),
    );
    const result = h(
      "section",
      { class: "result", "aria-label": "result" },
      this.options.el,
      this.invitation,
      this.picture.el,
    );
    this.tabs = createTabs({
      label: "what to show",
      className: "narrow",
      items: [
        { id: "program", label: "Program" },
        { id: "result", label: "Explorer" },
      ],
      onSelect: (id) => {
        this.root.dataset.on = id;
        this.fresh(false);
      },
    });
    fill(
      this.root,
      h(
        "div",
        { class: "head", role: "toolbar", "aria-label": "playground" },
        this.run,
        this.halt,
        h("label", null, "View ", this.views),
        this.examples,
        this.button("Open", "Open an ONNX model, or a file of Relay text", () => input.click()),
        this.button("Link", "Copy a link to this program", () => this.share()),
        input,
        this.told,
      ),
      this.tabs.el,
      h("div", { class: "work" }, program, result),
    );
    this.editor = createEditor({
      parent: area,
      root: shadow,
      onChange: () => this.edited(),
      onRun: () => this.start(),
      onLeave: () => this.run?.focus(),
    });
    this.root.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      this.root.classList.add("is-over");
    });
    this.root.addEventListener("dragleave", () => this.root.classList.remove("is-over"));
    // Before the editor, which would insert a dropped file as text.
    this.root.addEventListener(
      "drop",
      (event) => {
        this.root.classList.remove("is-over");
        const file = event.dataTransfer?.files[0];
        if (!file) return;
        event.preventDefault();
        event.stopPropagation();
        this.read(file);
      },
      true,
    );
  }

  /**
   * @param {string} label
   * @param {string} title
   * @param {() => void} onclick
   */
  button(label, title, onclick) {
    return h("button", { class: "btn", type: "button", title, onclick }, label);
  }

  // --- what is shown --------------------------------------------------------------------------------

  /** Opens the program of the address; without one, the first example, which waits for the reader. */
  async open() {
    const saved = await parseLink(window.location.hash);
    if (saved) {
      this.load(saved);
      this.start();
    } else if (window.location.hash.startsWith("#play.")) {
      this.problems?.show([notice("The address holds no program that can be read: it was cut or changed.")]);
    } else if (!this.view) this.load({ ...this.description.examples[0], state: "" });
  }

  /** @param {Saved | (Example & { state: string })} program */
  load({ text, view, options, state }) {
    this.wanted = state || undefined;
    this.setView(this.description.views.some(({ name }) => name === view) ? view : "types", options);
    if (this.editor) this.editor.text = text;
  }

  /** @param {string} index */
  example(index) {
    const example = this.description.examples[Number(index)];
    if (!index || !example) return;
    history.pushState(null, "", window.location.href); // Back returns to what the reader had
    this.load({ ...example, state: "" });
    if (this.examples) this.examples.value = "";
    this.edited();
  }

  /**
   * @param {string} view
   * @param {Options} [options]
   */
  setView(view, options) {
    this.view = view;
    if (this.views) {
      this.views.value = view;
    }
    this.options?.set(view, options);
  }

  /** @param {string} view */
  choose(view) {
    this.setView(view);
    this.reveal = this.active;
    this.edited();
  }

  // --- asking ---------------------------------------------------------------------------------------

  start() {
    this.active = true;
    this.update();
  }

  /** From the first run on, the picture follows every change. */
  edited() {
    this.save();
    if (!this.active) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.update(), PAUSE);
  }

  /** @returns {Request} */
  request() {
    return { text: this.editor?.text ?? "", view: this.view, options: this.options?.chosen ?? {} };
  }

  async update() {
    clearTimeout(this.timer);
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    try {
      do {
        this.again = false;
        if (this.file && !(await this.openModel(this.file))) continue;
        const request = this.request();
        this.show(await this.runtime.ask(request), request);
      } while (this.again);
    } catch (error) {
      if (error instanceof Stopped) this.active = false;
      this.refused(/** @type {Error} */ (error));
    } finally {
      this.busy = false;
    }
  }

  /**
   * @param {Answer} answer
   * @param {Request} request
   */
  show(answer, request) {
    const newer = request.text !== this.editor?.text;
    if (answer.tokens.length && !newer) this.editor?.color(answer.tokens);
    if (!newer) {
      this.editor?.underline(answer.problems);
      this.problems?.show(answer.problems, answer.view ? "" : this.view);
    }
    this.options?.setParams(answer.params);
    if (answer.view) {
      if (this.invitation) this.invitation.hidden = true;
      this.picture?.show(answer.view, this.wanted);
      this.wanted = undefined;
      if (this.reveal && !this.editor?.focused) this.tabs?.select("result");
      else this.fresh(this.tabs?.selected === "program");
    } else this.picture?.outdated("The text has an error. This explorer shows the last valid program.");
    this.reveal = false;
    this.root.dataset.seconds = String(answer.seconds);
    this.root.dispatchEvent(new CustomEvent("answered", { detail: answer }));
  }

  /**
   * Marks the tab of the explorer: it shows more than when the reader last looked. While the reader types, the page stays.
   * @param {boolean} fresh
   */
  fresh(fresh) {
    const tab = this.tabs?.button("result");
    tab?.classList.toggle("is-fresh", fresh);
    tab?.setAttribute("aria-label", fresh ? "Explorer, updated" : "Explorer");
  }

  /** Leads from an explorer that is out of date to the reason. */
  showProblem() {
    this.tabs?.select("program");
    this.problems?.first();
  }

  /** @param {Error} error */
  refused(error) {
    this.reveal = false;
    this.picture?.outdated("This explorer shows the last program that could be shown.");
    this.problems?.show([notice(error.message)]);
  }

  // --- files and links ------------------------------------------------------------------------------

  /** @param {File | undefined} file */
  async read(file) {
    if (!file) return;
    const head = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
    const model = head.some((byte) => byte < 32 && !BLANK.includes(byte));
    const most = model ? this.description.largest_model : MAX_FILE;
    if (file.size > most) {
      this.problems?.show([
        notice(
          `${file.name} has ${file.size.toLocaleString("en")} bytes; the page reads at most ${most.toLocaleString("en")}. ` +
            "The command relay-explorer serve opens larger ones on your machine.",
        ),
      ]);
      return;
    }
    if (model) {
      this.file = file;
      this.start();
      return;
    }
    const text = new TextDecoder().decode(await file.arrayBuffer());
    this.load({ text, view: this.view, options: {}, state: "" });
    this.start();
  }

  /**
   * Opens a model, and shows its program; returns whether there is one.
   * @param {File} file
   */
  async openModel(file) {
    this.file = null;
    const { text, problems } = await this.runtime.open(file);
    if (text === null) {
      this.problems?.show(problems); // the program and its picture stay as they are
      return false;
    }
    this.load({ text, view: this.view, options: {}, state: "" });
    return true;
  }

  /** Keeps the program in the address, so that reloading and going back find it again. */
  save() {
    clearTimeout(this.saving);
    this.saving = window.setTimeout(async () => {
      const fragment = await this.link();
      if (fragment) history.replaceState(history.state, "", fragment);
    }, 400);
  }

  link() {
    return formatLink({
      text: this.editor?.text ?? "",
      view: this.view,
      options: this.options?.chosen ?? {},
      state: this.picture?.state ?? "",
    });
  }

  async share() {
    const fragment = await this.link();
    if (!fragment) {
      this.say("This program is too long for a link.");
      return;
    }
    history.replaceState(history.state, "", fragment);
    try {
      await navigator.clipboard.writeText(window.location.href);
      this.say("The link is copied. It holds the whole program.");
    } catch {
      this.say("The page's address is the link: it holds the whole program.");
    }
  }

  // --- saying ---------------------------------------------------------------------------------------

  /** @param {string} text */
  say(text) {
    if (this.told) this.told.textContent = text;
  }

  /**
   * @param {Status} status
   * @param {string} text
   */
  status(status, text) {
    this.root.dataset.status = status;
    if (this.halt) this.halt.disabled = status !== "busy" && status !== "loading";
    if (this.invited && status === "loading")
      this.invited.textContent = "Python and the compiler are being loaded. This takes a few seconds.";
    this.say(text);
  }
}

/** @param {string} message */
const notice = (message) => ({ message, place: null, notes: [], help: [] });
