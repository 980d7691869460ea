export function mountTypes() { throw new Error("being written"); }
