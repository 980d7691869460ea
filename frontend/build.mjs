// Bundles src/index.js into the one file that the Python package carries. `--check` compares instead of writing.
import { existsSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundled, licences } from "./bundling.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "relay_explorer", "widgets", "static");

const result = await bundled("index.js", {
  banner: { js: "/* relay_explorer front end, Apache-2.0; its libraries: relay_explorer.licenses.txt */" },
});
/** What notebooks hold in order to load the bundle once: see src/loader. */
const loaders = await Promise.all([
  bundled("loader/holder.js", { format: "iife", globalName: "relayExplorerHolder" }),
  bundled("loader/reference.js", { format: "iife" }),
  bundled("loader/standin.js", { format: "iife" }),
  bundled("loader/widget.js"),
]);
/** The page of the local server, which loads the bundle beside it. */
const server = await bundled("server/app.js");
const files = {
  "relay_explorer.js": result.outputFiles[0].text,
  ...Object.fromEntries(
    ["holder.js", "reference.js", "standin.js", "widget.js"].map((name, i) => [
      name,
      loaders[i].outputFiles[0].text,
    ]),
  ),
  "server.js": server.outputFiles[0].text,
  "relay_explorer.licenses.txt": licences("relay_explorer.js", result.metafile.inputs),
};
// Inside a page the bundle stands in a <script>; a closing tag in one of its strings would end it.
if (/<\/script/i.test(files["relay_explorer.js"]))
  throw new Error("the bundle contains a closing script tag");

let stale = false;
mkdirSync(target, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const path = join(target, name);
  if (process.argv.includes("--check")) stale ||= !existsSync(path) || readFileSync(path, "utf8") !== text;
  else writeFileSync(path, text);
}
if (stale) {
  console.error(
    "The committed bundle is not the one that these sources make: run `npm run build` in frontend/.",
  );
  process.exit(1);
}
console.log(`relay_explorer.js: ${(files["relay_explorer.js"].length / 1000).toFixed(1)} kB`);
