// What the worker uses of Pyodide. (Its own declarations need those of Node.)
declare module "pyodide/pyodide.mjs" {
  export function loadPyodide(options: object): Promise<{
    globals: { get(name: string): any };
  }>;
}
declare module "pyodide/pyodide.asm.mjs" {
  const create: unknown;
  export default create;
}
/** What Pyodide's list of packages says about itself; see playground.mjs. */
declare const PYODIDE_INFO: object;
