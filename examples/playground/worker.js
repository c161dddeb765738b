"use strict";
// Runs in a worker, after engine.js: an in-memory database with the extension. Each message { id, sql, values, text, limit,
// file, trace } gets one answer { id, results, error, statements }, in order.

const TRANSIENT = -1; // SQLite copies bound values
const ROW = 100, DONE = 101;
const TEXT = 3, BLOB = 4, NULL = 5;

let engine, db;
let statements = []; // the SQL of those that were traced
let reading = null; // the file that the table `lines` reads, the position in it, and the receiver of progress

async function start(wasm) {
  engine = await createEngine({ wasmBinary: wasm, nextBytes, statementEnded: (sql) => statements.push(textAt(sql)) });
  db = engine._open_database();
  if (!db) throw new Error("no memory for a database");
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const errorText = () => textAt(engine._sqlite3_errmsg(db));

function textAt(pointer) {
  return decoder.decode(engine.HEAPU8.subarray(pointer, engine.HEAPU8.indexOf(0, pointer)));
}

// Calls use(pointer, length) with a copy of the bytes that ends with a zero byte.
function withBytes(bytes, use) {
  const pointer = engine._malloc(bytes.length + 1);
  if (!pointer) throw new Error("out of memory");
  engine.HEAPU8.set(bytes, pointer);
  engine.HEAPU8[pointer + bytes.length] = 0;
  try {
    return use(pointer, bytes.length);
  } finally {
    engine._free(pointer);
  }
}

function bind(statement, index, value) {
  if (value instanceof Uint8Array) {
    withBytes(value, (pointer, length) => engine._sqlite3_bind_blob(statement, index, pointer, length, TRANSIENT));
  } else if (typeof value === "string") {
    withBytes(encoder.encode(value), (pointer, length) => engine._sqlite3_bind_text(statement, index, pointer, length, TRANSIENT));
  } else if (typeof value === "number") {
    engine._sqlite3_bind_double(statement, index, value);
  }
}

function bytesOf(statement, column, pointer) {
  return engine.HEAPU8.slice(pointer, pointer + engine._sqlite3_column_bytes(statement, column));
}

// With `asText`, numbers are the strings that SQLite makes of them.
function columnValue(statement, column, asText) {
  const type = engine._sqlite3_column_type(statement, column);
  if (type === NULL) return null;
  if (type === BLOB) return bytesOf(statement, column, engine._sqlite3_column_blob(statement, column));
  if (type === TEXT || asText) {
    return decoder.decode(bytesOf(statement, column, engine._sqlite3_column_text(statement, column)));
  }
  return engine._sqlite3_column_double(statement, column);
}

function columnsOf(statement) {
  const count = engine._sqlite3_column_count(statement);
  return Array.from({ length: count }, (_, i) => textAt(engine._sqlite3_column_name(statement, i)));
}

function rowsOf(statement, { text = false, limit = Infinity }) {
  const columns = columnsOf(statement);
  const rows = [];
  let code;
  while ((code = engine._sqlite3_step(statement)) === ROW && rows.length < limit) {
    rows.push(columns.map((_, i) => columnValue(statement, i, text)));
  }
  if (code !== ROW && code !== DONE) throw new Error(errorText());
  return { columns, rows, more: code === ROW };
}

// Returns the statement that starts at a pointer, or 0 if only white space is left, and the start of the next one.
function prepare(sql) {
  const out = engine._malloc(8);
  const code = engine._sqlite3_prepare_v2(db, sql, -1, out, out + 4);
  const [statement, next] = new Uint32Array(engine.HEAPU8.buffer, out, 2);
  engine._free(out);
  if (code !== 0) throw new Error(errorText());
  return { statement, next };
}

// Runs all statements of a text. When a statement fails, `results` keeps the results of those before it.
function run(request, results) {
  withBytes(encoder.encode(request.sql), (pointer, length) => {
    for (let at = pointer; at < pointer + length; ) {
      const { statement, next } = prepare(at);
      at = next;
      if (!statement) continue;
      try {
        (request.values ?? []).forEach((value, i) => bind(statement, i + 1, value));
        results.push(rowsOf(statement, request));
      } finally {
        engine._sqlite3_finalize(statement);
      }
    }
  });
}

// engine.c calls this function for the next bytes of the file.
function nextBytes(into, room) {
  try {
    const part = reading.file.slice(reading.at, reading.at + room);
    const bytes = part instanceof Uint8Array ? part : new Uint8Array(new FileReaderSync().readAsArrayBuffer(part));
    engine.HEAPU8.set(bytes, into);
    reading.at += bytes.length;
    postMessage({ id: reading.id, progress: reading.at / Math.max(1, reading.file.size ?? reading.file.length) });
    return bytes.length;
  } catch {
    return -1;
  }
}

function answer(request) {
  const results = [];
  let error = null;
  reading = request.file ? { id: request.id, file: request.file, at: 0 } : { file: new Blob([]), at: 0 };
  statements = [];
  engine._trace(db, Boolean(request.trace));
  try {
    run(request, results);
  } catch (failure) {
    error = failure.message;
  }
  postMessage({ id: request.id, results, error, statements });
}

let started;
onmessage = async ({ data }) => {
  started ??= start(data.wasm);
  try {
    await started;
  } catch (failure) {
    postMessage({ id: data.id, error: `SQLite does not start here: ${failure.message}` });
    return;
  }
  if (data.sql !== undefined) answer(data);
};
