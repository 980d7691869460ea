// The views this bundle can draw, by the name that stands in the data.
import * as present from "virtual:views";

/** view name → mount(root, view, ctx) */
export const VIEWS = { types: present.mountTypes, ir: present.mountIr };
