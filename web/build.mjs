// Builds the page: one script, one style sheet, and the files that stand beside them, each packed
// with gzip as the daemon serves it. The same sources give the same bytes.
//
// usage: node build.mjs FOLDER [--development]
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [folder, ...options] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node build.mjs FOLDER [--development]");
  process.exit(2);
}
const development = options.includes("--development");

let bundle;
try {
  bundle = await build({
    absWorkingDir: here,
    entryPoints: [{ in: "src/main.tsx", out: "app" }], // app.js and, of what it imports, app.css
    outdir: "out",
    write: false,
    bundle: true,
    minify: !development,
    sourcemap: development ? "inline" : false,
    format: "esm",
    target: "es2021",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "error",
  });
} catch {
  process.exit(1); // esbuild has said what is wrong, and where
}

const files = new Map();
for (const name of ["index.html", "favicon.svg"]) {
  files.set(name, readFileSync(join(here, name)));
}
for (const { path, contents } of bundle.outputFiles) {
  files.set(basename(path), contents);
}

mkdirSync(folder, { recursive: true });
for (const [name, contents] of files) {
  const packed = gzipSync(contents, { level: constants.Z_BEST_COMPRESSION });
  packed[9] = 255; // the system it was packed on: none in particular
  writeFileSync(join(folder, `${name}.gz`), packed);
}
