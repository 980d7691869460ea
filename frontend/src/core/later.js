/** What a class makes after its constructor: a field that is there once the explorer is built. @type {any} */
export const LATER = undefined;
