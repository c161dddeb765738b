import { opener } from "./database.mjs";

export { Database, SqliteError } from "./database.mjs";

export const open = opener(async () => {
  const response = await fetch(new URL("./engine.wasm", import.meta.url));
  if (!response.ok) throw new Error(`cannot fetch ${response.url}: status ${response.status}`);
  return response.arrayBuffer();
});
