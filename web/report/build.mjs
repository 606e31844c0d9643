// Builds the script and the style of the page of `berth report`, and the policy that lets a browser run these two only.
//   node build.mjs [FOLDER]    default: host/report/html/asset
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "../../host/report/html/asset");

const licence = readFileSync(join(here, "node_modules/uplot/LICENSE"), "utf8").trim().replace(/\*\//g, "* /");
const version = JSON.parse(readFileSync(join(here, "node_modules/uplot/package.json"), "utf8")).version;
const banner = `/*! Berth, Apache-2.0. With uPlot ${version}:\n${licence}\n*/`;

async function built(entry, loader) {
  const result = await esbuild.build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    charset: "ascii",
    format: "iife",
    target: ["es2020"],
    legalComments: "none",
    banner: { [loader]: banner },
    write: false,
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trimEnd();
}

const script = await built("main.ts", "js");
const style = await built("style.css", "css");
for (const [name, text] of [["script", script], ["style", style]]) {
  if (new RegExp(`</${name}|<!--`, "i").test(text)) throw new Error(`the ${name} would end its element`);
}
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "report.js"), script);
writeFileSync(join(folder, "report.css"), style);
writeFileSync(
  join(folder, "security.txt"),
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`,
);
