import { readFile } from "node:fs/promises";
import { opener } from "./database.mjs";

export { Database, SqliteError } from "./database.mjs";

export const open = opener(() => readFile(new URL("./engine.wasm", import.meta.url)));
