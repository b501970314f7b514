// Runs a program for wasm32-wasip1: `node ci/wasi.mjs PROGRAM ARGUMENT...`.
import { readFile } from "node:fs/promises";
import { env, argv, exit } from "node:process";
import { WASI } from "node:wasi";

const wasi = new WASI({ version: "preview1", args: argv.slice(2), env, preopens: {}, returnOnExit: true });
const program = await WebAssembly.compile(await readFile(argv[2]));
exit(wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject())));
