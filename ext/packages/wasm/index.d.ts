/** A value in a row. An integer is a bigint if a number cannot represent it exactly. */
export type Value = null | number | bigint | string | Uint8Array;

/**
 * Values of parameters: an array for `?`, `?1`, `?2`, or an object for named parameters, with the names
 * as they are in the statement, for example `":key"`. Integers up to 2^53 - 1 are bound as INTEGER, other numbers
 * as REAL.
 */
export type Parameters = readonly Value[] | Readonly<Record<string, Value>>;

/** An error of SQLite or of the extension. */
export class SqliteError extends Error {
  /** SQLite's extended result code. */
  readonly code: number;
}

/** A database in memory. */
export class Database {
  private constructor();
  /**
   * Runs all statements of `sql` and returns the rows of the last statement. Each statement takes the values
   * of its own parameters. Throws SqliteError; the statements before the failed one keep their effect.
   */
  exec(sql: string, parameters?: Parameters): Record<string, Value>[];
  /** Returns the database as the bytes of a database file. */
  export(): Uint8Array;
  /** Frees the memory. The database cannot be used any more. */
  close(): void;
}

/** Opens a database in memory: an empty one, or one with the content of a database file. */
export function open(file?: Uint8Array): Promise<Database>;
