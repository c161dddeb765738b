/** Returns the path of the extension's file. Throws if no package for this platform is installed. */
export function getLoadablePath(): string;

/** Loads the extension into a connection of better-sqlite3, libsql, node:sqlite, sqlite3 or bun:sqlite. */
export function load(db: { loadExtension(path: string): unknown }): void;
