// A database in memory, in SQLite with the extension compiled in.
import createEngine from "./engine.js";

const ROW = 100, DONE = 101;
const INTEGER = 1, FLOAT = 2, TEXT = 3, BLOB = 4;
const TRANSIENT = -1; // SQLite copies bound values

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class SqliteError extends Error {
  constructor(message, code) {
    super(message);
    this.name = "SqliteError";
    this.code = code;
  }
}

export class Database {
  #engine;
  #db;

  constructor(engine, db) {
    this.#engine = engine;
    this.#db = db;
  }

  exec(sql, parameters = []) {
    this.#requireOpen();
    let rows = [];
    withBytes(this.#engine, encoder.encode(sql), (start, length) => {
      for (let at = start; at < start + length; ) {
        const { statement, next } = this.#prepare(at);
        at = next;
        if (!statement) continue;
        try {
          this.#bind(statement, parameters);
          rows = this.#rows(statement);
        } finally {
          this.#engine._sqlite3_finalize(statement);
        }
      }
    });
    return rows;
  }

  export() {
    this.#requireOpen();
    return withRoom(this.#engine, 4, (place) => {
      const bytes = this.#engine._export_database(this.#db, place);
      if (!bytes) throw new SqliteError("out of memory", 7);
      try {
        return this.#engine.HEAPU8.slice(bytes, bytes + numbers(this.#engine).getInt32(place, true));
      } finally {
        this.#engine._sqlite3_free(bytes);
      }
    });
  }

  close() {
    if (this.#db) this.#engine._sqlite3_close(this.#db);
    this.#db = 0;
  }

  #requireOpen() {
    if (!this.#db) throw new SqliteError("the database is closed", 21);
  }

  #fail() {
    throw new SqliteError(textAt(this.#engine, this.#engine._sqlite3_errmsg(this.#db)), this.#engine._sqlite3_extended_errcode(this.#db));
  }

  // Returns the statement that starts at a pointer, or 0 if only white space is left, and the start of the next one.
  #prepare(sql) {
    return withRoom(this.#engine, 8, (place) => {
      if (this.#engine._sqlite3_prepare_v2(this.#db, sql, -1, place, place + 4) !== 0) this.#fail();
      return { statement: numbers(this.#engine).getUint32(place, true), next: numbers(this.#engine).getUint32(place + 4, true) };
    });
  }

  // Extra values are ignored: of several statements, each takes the values of its own parameters.
  #bind(statement, parameters) {
    const count = this.#engine._sqlite3_bind_parameter_count(statement);
    for (let index = 1; index <= count; ++index) {
      const pointer = this.#engine._sqlite3_bind_parameter_name(statement, index);
      const name = pointer ? textAt(this.#engine, pointer) : `?${index}`;
      const value = Array.isArray(parameters) ? parameters[index - 1] : parameters[name];
      if (value === undefined) throw new TypeError(`no value for the parameter ${name}`);
      if (this.#bindValue(statement, index, value, name) !== 0) this.#fail();
    }
  }

  #bindValue(statement, index, value, name) {
    const engine = this.#engine;
    if (value === null) return engine._sqlite3_bind_null(statement, index);
    if (typeof value === "bigint") return this.#bindInteger(statement, index, value, name);
    if (typeof value === "number" && Number.isSafeInteger(value)) return this.#bindInteger(statement, index, BigInt(value), name);
    if (typeof value === "number") return engine._sqlite3_bind_double(statement, index, value);
    if (typeof value === "string") {
      return withBytes(engine, encoder.encode(value), (pointer, length) => engine._sqlite3_bind_text(statement, index, pointer, length, TRANSIENT));
    }
    if (value instanceof Uint8Array) {
      return withBytes(engine, value, (pointer, length) => engine._sqlite3_bind_blob(statement, index, pointer, length, TRANSIENT));
    }
    throw new TypeError(`the parameter ${name} must be null, a number, a bigint, a string or a Uint8Array`);
  }

  #bindInteger(statement, index, value, name) {
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`the parameter ${name} needs more than 64 bits: ${value}`);
    return withRoom(this.#engine, 8, (place) => {
      numbers(this.#engine).setBigInt64(place, value, true);
      return this.#engine._bind_integer(statement, index, place);
    });
  }

  #rows(statement) {
    const engine = this.#engine;
    const columns = Array.from({ length: engine._sqlite3_column_count(statement) }, (_, i) => textAt(engine, engine._sqlite3_column_name(statement, i)));
    const rows = [];
    let code;
    while ((code = engine._sqlite3_step(statement)) === ROW) {
      rows.push(Object.fromEntries(columns.map((name, i) => [name, this.#value(statement, i)])));
    }
    if (code !== DONE) this.#fail();
    return rows;
  }

  #value(statement, column) {
    const engine = this.#engine;
    switch (engine._sqlite3_column_type(statement, column)) {
      case INTEGER: return this.#integer(statement, column);
      case FLOAT: return engine._sqlite3_column_double(statement, column);
      case TEXT: return decoder.decode(this.#bytes(statement, column, engine._sqlite3_column_text(statement, column)));
      case BLOB: return this.#bytes(statement, column, engine._sqlite3_column_blob(statement, column)).slice();
      default: return null;
    }
  }

  #integer(statement, column) {
    const value = withRoom(this.#engine, 8, (place) => {
      this.#engine._column_integer(statement, column, place);
      return numbers(this.#engine).getBigInt64(place, true);
    });
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  #bytes(statement, column, pointer) {
    return this.#engine.HEAPU8.subarray(pointer, pointer + this.#engine._sqlite3_column_bytes(statement, column));
  }
}

// Returns open(): `wasm` returns the bytes of engine.wasm, or a promise of them. The module is compiled once.
export function opener(wasm) {
  let starting;
  return async (file = new Uint8Array()) => {
    starting ??= Promise.resolve(wasm()).then((wasmBinary) => createEngine({ wasmBinary }));
    const engine = await starting.catch((error) => {
      starting = undefined;
      throw error;
    });
    return withBytes(engine, file, (bytes, length) => withRoom(engine, 4, (place) => {
      const db = engine._open_database(bytes, length, place);
      const code = numbers(engine).getInt32(place, true);
      if (!db) throw new SqliteError(textAt(engine, engine._text_of_code(code)), code);
      return new Database(engine, db);
    }));
  };
}

// The memory of the module moves when it grows, so a view of it is made for each use.
const numbers = (engine) => new DataView(engine.HEAPU8.buffer);

function textAt(engine, pointer) {
  return decoder.decode(engine.HEAPU8.subarray(pointer, engine.HEAPU8.indexOf(0, pointer)));
}

function withRoom(engine, length, use) {
  const pointer = engine._malloc(length);
  if (!pointer) throw new SqliteError("out of memory", 7);
  try {
    return use(pointer);
  } finally {
    engine._free(pointer);
  }
}

// Calls use(pointer, length) with a copy of the bytes that ends with a zero byte.
function withBytes(engine, bytes, use) {
  return withRoom(engine, bytes.length + 1, (pointer) => {
    engine.HEAPU8.set(bytes, pointer);
    engine.HEAPU8[pointer + bytes.length] = 0;
    return use(pointer, bytes.length);
  });
}
