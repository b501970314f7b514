// Runs a program for wasm32-wasip1: `node wasi.mjs PROGRAM ARGUMENT...`. The imported package must
// be next to it.
import { writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { argv, env, exit } from "node:process";
import { ConsoleStdout, File, OpenFile, WASI } from "@bjorn3/browser_wasi_shim";

const output = (file) => new ConsoleStdout((bytes) => writeSync(file, bytes));
const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
const wasi = new WASI(argv.slice(2), variables, [new OpenFile(new File([])), output(1), output(2)]);
const program = await WebAssembly.compile(await readFile(argv[2]));
exit(wasi.start(await WebAssembly.instantiate(program, { wasi_snapshot_preview1: wasi.wasiImport })));
