// The vocabulary of marks of a quantization: a shape as well as a color for each kind of step.

/** By the step's mark in the data. */
export const MARKS = [
  { id: "begin", shape: "bar", label: "float program" },
  { id: "simulated", shape: "ring", label: "quantizer" },
  { id: "left", shape: "cross", label: "left in float", rare: true },
  { id: "calibrated", shape: "diamond", label: "range" },
  { id: "realized", shape: "square", label: "integers" },
  { id: "requantized", shape: "link", label: "requantization" },
  { id: "cancelled", shape: "down", label: "cancelled", rare: true },
  { id: "error", shape: "triangle", label: "most noise added", rare: true, always: true },
  { id: "finish", shape: "flag", label: "result" },
];
export const LEFT = 2;
export const REQUANTIZED = 5;
export const CANCELLED = 6;
export const ERROR = 7;

/** By the phase in the data. */
export const PHASES = ["float", "annotate", "calibrate", "realize", "compare"];
export const CALIBRATE = 2;
export const REALIZE = 3;
export const COMPARE = 4;

/** What became of a row. */
export const INTEGER = 1;
export const FLOAT = 2;
export const GONE = 3;

/** What a line of the integer program is for: a word before it, and what the word means. */
export const KINDS = [
  { id: "other", word: "", title: "" },
  { id: "compute", word: "", title: "computes with integers" },
  { id: "quantize", word: "quantize", title: "converts floating-point numbers to integers" },
  {
    id: "requantize",
    word: "requantize",
    title: "converts integers of one scale to those of another",
  },
  { id: "dequantize", word: "dequantize", title: "converts integers to floating-point numbers" },
  { id: "float", word: "float", title: "still computes with floating-point numbers" },
];

/** The SQNR at which a bar is full, in decibels. */
export const FULL = 60;
