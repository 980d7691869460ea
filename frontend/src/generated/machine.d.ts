// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";
import type * as memory from "./memory.js";

/**
 * A recorded run of the virtual machine. `totals` are of the whole run; `gap` is the step that stands for the
 * omitted ones, and their number. `plan` is the graph executor's plan of the same program, if it can run it;
 * otherwise `without` says why not. `texts` are the arguments as the playground reads them ("": one that is too
 * large to be written).
 */
export interface MachineView extends common.BaseView {
  view: "machine";
  functions: MachineFunction[];
  kernels: KernelBox[];
  objects: MachineObject[];
  frames: MachineFrame[];
  steps: MachineStep[];
  failure: MachineFailure | null;
  gap: Gap | null;
  totals: Record<string, number>;
  start: number;
  plan: memory.MemoryView | null;
  without: string[];
  texts: string[];
}

/**
 * A function: its name, its row, the names of its first registers (parameters and captured values), the number
 * of its registers, and its code.
 */
export interface MachineFunction {
  name: string;
  row: number;
  names: string[];
  registers: number;
  code: CodeLine[];
}

/** A kernel: its name, what it computes, and whether it allocates its results itself. */
export interface KernelBox {
  name: string;
  text: string;
  host: boolean;
}

/**
 * An object that occupies memory: its kind, its label, its bytes (of storage and tensors), the storage in which
 * it lies (-1: none), whether it is part of the arguments, the step that creates it, the last one that uses it,
 * and the one after which no reference to it remains (the number of steps if one remains to the end).
 */
export interface MachineObject {
  kind: number;
  label: string;
  bytes: number;
  storage: number;
  given: boolean;
  made: number;
  last: number;
  freed: number;
}

/**
 * A stack frame: its function, its caller and the instruction at which the caller waits, the frame that it
 * replaced by a tail call (`before`), the number of such replacements so far (`turn`), and the steps that enter
 * and leave it.
 */
export interface MachineFrame {
  function: number;
  caller: number;
  at: number;
  before: number;
  turn: number;
  entered: number;
  left: number;
}

/** One step: it executes instruction `number`, and `frame` continues with instruction `following`. */
export interface MachineStep {
  mark: number;
  frame: number;
  number: number;
  following: number;
  say: string[];
  because: number[];
  changes: (Appears | Filled | Freed | Called | Replaced | Left | Written | Unknown)[];
}

/** Why a run failed: notes and suggestions that its last step's sentence does not contain. */
export interface MachineFailure {
  notes: string[][];
  tries: string[][];
}

/** Step `step` stands for `left_out` steps that are not in the data. */
export interface Gap {
  step: number;
  left_out: number;
}

/**
 * An instruction: its text, a remark, the rows that it came from (the most important one first), the registers
 * that it reads and writes, and how often it ran (-1: not counted).
 */
export interface CodeLine {
  text: string;
  remark: string;
  rows: number[];
  reads: number[];
  writes: number[];
  runs: number;
}

/** The object appears with this content ("": an uninitialized tensor). */
export interface Appears {
  tag: "o";
  object: number;
  text: string;
}

/** The object has this content from now on. */
export interface Filled {
  tag: "t";
  object: number;
  text: string;
}

/** The object is freed. */
export interface Freed {
  tag: "d";
  object: number;
}

/** The frame is pushed onto the stack. */
export interface Called {
  tag: "f";
  frame: number;
}

/** The frame replaces the top one. */
export interface Replaced {
  tag: "g";
  frame: number;
}

/** The frame is popped from the stack. */
export interface Left {
  tag: "r";
  frame: number;
}

/** The register is written. */
export interface Written {
  tag: "w";
  frame: number;
  register: number;
  value: number | string;
}

/** The stack is not recorded at a gap. */
export interface Unknown {
  tag: "x";
}
