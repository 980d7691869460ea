/** A style sheet is imported as its minified text (see build.mjs). */
declare module "*.css" {
  const css: string;
  export default css;
}

/** What stands in an explorer are HTML elements; where they are SVG's, the code says so. */
interface ParentNode {
  querySelector(selectors: string): HTMLElement | null;
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>;
}
interface Element {
  closest(selectors: string): HTMLElement | null;
  readonly firstElementChild: HTMLElement | null;
  readonly nextElementSibling: HTMLElement | null;
  readonly previousElementSibling: HTMLElement | null;
}

/** What the bundle leaves in a page for the outputs that do not carry it. */
declare var relayExplorer:
  { mount: any; mountAll(): void; render(context: any): () => void; digest?: string } | undefined;
