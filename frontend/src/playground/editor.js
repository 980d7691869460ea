// The editor: CodeMirror, with the colors of the package's own lexer, and its errors underlined in place.
import { defaultKeymap, history, historyKeymap, insertNewlineKeepIndent } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
/** @import { Extension, Text } from "@codemirror/state" */
/** @import { Place, Problem } from "./types.js" */

const CLASSES = [
  "", "keyword", "local", "global", "op", "type", "literal", "attr", "ctor", "comment",
].map((name) => (name ? Decoration.mark({ class: `tok-${name}` }) : null)); // prettier-ignore

/** @type {import("@codemirror/state").StateEffectType<number[]>} */
const colored = StateEffect.define();

/** The colors of the last answer, moved along while the reader types. */
const colors = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(colored)) next = marksOf(effect.value, transaction.state.doc.length);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * @param {number[]} tokens start, length and class of each
 * @param {number} length
 */
function marksOf(tokens, length) {
  const ranges = [];
  for (let i = 0; i + 2 < tokens.length; i += 3) {
    const mark = CLASSES[tokens[i + 2]];
    const end = tokens[i] + tokens[i + 1];
    if (mark && end <= length) ranges.push(mark.range(tokens[i], end));
  }
  return Decoration.set(ranges);
}

/**
 * The offset of a line and column; both count from 1, and columns count characters, not UTF-16 units.
 * @param {Text} doc
 * @param {number} line
 * @param {number} column
 */
function offset(doc, line, column) {
  if (line < 1) return 0;
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  const units = [...text.slice(0, 2 * column)].slice(0, column - 1).join("").length;
  return from + Math.min(units, text.length);
}

/**
 * @param {Text} doc
 * @param {Place} place
 */
export function rangeOf(doc, [line, column, endLine, endColumn]) {
  const from = offset(doc, line, column);
  const to = offset(doc, endLine, endColumn);
  return { from, to: Math.max(from, to) };
}

/**
 * @param {{ parent: HTMLElement, root: ShadowRoot, onChange(): void, onRun(): void, onLeave(): void }} hooks
 */
export function createEditor({ parent, root, onChange, onRun, onLeave }) {
  /** @type {Extension} */
  const extensions = [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    bracketMatching(),
    lintGutter(),
    colors,
    EditorView.lineWrapping,
    EditorState.tabSize.of(2),
    EditorState.lineSeparator.of("\n"),
    EditorView.contentAttributes.of({
      "aria-label": "the program, as Relay text",
      "aria-describedby": "pg-keys",
      spellcheck: "false",
      autocapitalize: "off",
      autocorrect: "off",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange();
    }),
    // Tab is not bound: it leaves the editor, as it leaves every other field.
    keymap.of([
      { key: "Mod-Enter", run: () => (onRun(), true) },
      { key: "Enter", run: insertNewlineKeepIndent },
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap.filter(({ key }) => key !== "Escape" && key !== "Enter"),
      { key: "Escape", run: () => (onLeave(), true) },
    ]),
  ];
  const view = new EditorView({ parent, root, state: EditorState.create({ doc: "", extensions }) });
  return {
    view,
    get text() {
      return view.state.doc.toString();
    },
    /** @param {string} text */
    set text(text) {
      // A new state: undo does not lead from one program into another.
      view.setState(EditorState.create({ doc: text, extensions }));
    },
    focus: () => view.focus(),
    blur: () => view.contentDOM.blur(),
    get focused() {
      return view.hasFocus;
    },
    /** @param {number[]} tokens */
    color: (tokens) => view.dispatch({ effects: colored.of(tokens) }),
    /** @param {Problem[]} problems */
    underline(problems) {
      const { doc } = view.state;
      const diagnostics = problems.flatMap(({ place, message, help }) =>
        place
          ? [
              {
                ...rangeOf(doc, place),
                severity: /** @type {const} */ ("error"),
                message: [message, ...help.map((text) => `Try: ${text}`)].join("\n"),
              },
            ]
          : [],
      );
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    /** @param {Place} place */
    go(place) {
      const { from, to } = rangeOf(view.state.doc, place);
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/** @typedef {ReturnType<typeof createEditor>} Editor */
