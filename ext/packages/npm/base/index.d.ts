/** The path of the extension's file, for whatever can load one. Throws where there is none for this platform. */
export function getLoadablePath(): string;

/** Loads the extension into a connection of better-sqlite3, libsql or node:sqlite. */
export function load(db: { loadExtension(path: string): unknown }): void;
