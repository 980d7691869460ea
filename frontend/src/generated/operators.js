// Derived from the operators' declarations by `make views`.
/** Operators whose operands patterns match in either order. */
export const COMMUTATIVE = new Set(["add", "multiply"]);
