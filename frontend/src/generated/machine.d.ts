// Derived from the dataclasses of relay_explorer/views by `make views`.
import type * as common from "./common.js";
import type * as memory from "./memory.js";

/**
 * A recorded run of the virtual machine. `totals` are of the whole run; `gap` is the step that stands for what
 * is left out, and how many steps that is. `plan` is the graph executor's plan of the same program, where it can
 * run it; `without` says why there is none.
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
}

/**
 * A function: its name, its row, the names of the registers that it begins with, how many registers it has, and
 * its code.
 */
export interface MachineFunction {
  name: string;
  row: number;
  names: string[];
  registers: number;
  code: CodeLine[];
}

/** A kernel: its name, what it computes, and whether it makes its results itself. */
export interface KernelBox {
  name: string;
  text: string;
  host: boolean;
}

/**
 * An object that occupies memory: what it is, its label, its bytes (of storage and tensors), the storage that it
 * lies in (-1), whether it is part of the arguments, the steps that make it, use it last, and after which
 * nothing holds it (the number of steps, where something does to the end), and the instruction that made it.
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
 * An activation: of which function, which activation waits for it and at which instruction, whose place it took,
 * and from when to when it lives.
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

/** One step: after it, `frame` goes on with instruction `following`; `number` is the one that is done. */
export interface MachineStep {
  mark: number;
  frame: number;
  number: number;
  following: number;
  say: string[];
  because: number[];
  changes: (Appears | Filled | Freed | Called | Replaced | Left | Written | Unknown)[];
}

/** Why a run went wrong: what its step does not say. */
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
 * An instruction: its text, a remark, the rows that it came from (the one that it is about first), the registers
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

/** The object appears, with this in it ("": a tensor that is not filled). */
export interface Appears {
  tag: "o";
  object: number;
  text: string;
}

/** This is in the object now. */
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

/** The frame leaves the stack. */
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
