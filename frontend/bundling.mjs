// What the two bundles, of the explorers and of the playground, have in common.
import { build, transform } from "esbuild";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { scalable } from "./scaling.mjs";
import { TARGETS } from "./targets.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** Stylesheets travel as strings: shorten them the way code is shortened. */
const styles = {
  name: "styles",
  setup(b) {
    b.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const out = await transform(scalable(readFileSync(path, "utf8")), {
        loader: "css",
        minify: true,
        target: TARGETS,
      });
      return { contents: out.code.trim(), loader: "text" };
    });
  },
};

/** The licences of the libraries in a bundle; `more` are those of libraries that do not come from npm. */
export function licences(bundle, inputs, more = []) {
  const names = new Set(
    Object.keys(inputs)
      .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
      .filter(Boolean),
  );
  const parts = [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const {
      version,
      license,
      homepage = "",
    } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = join(folder, "LICENSE");
    return `${name} ${version} (${license})\n\n${existsSync(text) ? readFileSync(text, "utf8").trim() : homepage}\n`;
  });
  return [`${bundle} contains these libraries.\n`, ...parts, ...more].join(`\n${"-".repeat(80)}\n\n`);
}

/** Bundles one entry point; `more` are further options of esbuild. */
export const bundled = (entry, more) =>
  build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    format: "esm",
    minify: true,
    target: TARGETS,
    charset: "utf8",
    write: false,
    metafile: true,
    legalComments: "none",
    plugins: [styles],
    ...more,
  });
