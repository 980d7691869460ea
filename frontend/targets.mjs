/** The oldest browsers that the bundle is for; test/browsers.test.mjs holds it to what they know. */
export const TARGETS = ["safari16", "firefox115", "chrome109", "edge109"];
