// What must hold for sqlite-bloom-wasm in Node and in every browser. Uses no assert, which pages do not have.

function same(got, wanted) {
  const text = (value) => JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}n` : each instanceof Uint8Array ? { bytes: [...each] } : each));
  if (text(got) !== text(wanted)) throw new Error(`wanted ${text(wanted)}, got ${text(got)}`);
}

function errorOf(act) {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("no error");
}

const rejection = (promise) => promise.then(() => Promise.reject(new Error("no error")), (error) => error);
const counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)";

const checks = {
  async "values go in and come out"({ open }) {
    const db = await open();
    const values = [null, 42, -1, 0.5, 9007199254740993n, -(2n ** 63n), "Zürich\0x", "", new Uint8Array([0, 255]), new Uint8Array()];
    const [row] = db.exec(`SELECT ${values.map((_, i) => `?${i + 1} AS v${i}`).join(", ")}`, values);
    same(Object.values(row), values);
    same(db.exec("SELECT typeof(?) AS a, typeof(?) AS b, typeof(?) AS c", [42, 0.5, 2 ** 53]), [{ a: "integer", b: "real", c: "real" }]);
    db.close();
  },

  async "all statements run, and the last one's rows are returned"({ open }) {
    const db = await open();
    same(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (?1); INSERT INTO t VALUES (?2); SELECT a FROM t; -- end\n", [1, 2]), [{ a: 1 }, { a: 2 }]);
    same(db.exec("SELECT a FROM t; DELETE FROM t"), []);
    same(db.exec(""), []);
    same(db.exec("SELECT :a AS a, $b AS b", { ":a": "x", "$b": "y", extra: 1 }), [{ a: "x", b: "y" }]);
  },

  async "errors are SQLite's and the extension's"({ open, SqliteError }) {
    const db = await open();
    const error = errorOf(() => db.exec("CREATE TABLE t(a PRIMARY KEY); SELECT bloom_contains(NULL, 1)"));
    same([error instanceof SqliteError, error.code], [true, 1]);
    same(error.message, "bloom_contains: argument 1 is not a bloom filter (NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT bloom_open(filter) FROM ...))");
    same(db.exec("SELECT count(*) AS n FROM t"), [{ n: 0 }]);
    same(errorOf(() => db.exec("INSERT INTO t VALUES (1), (1)")).code, 1555);
    same(errorOf(() => db.exec("SELECT")).message, "incomplete input");
    same(errorOf(() => db.exec("SELECT ?1, ?2", [1])).message, "no value for the parameter ?2");
    same(errorOf(() => db.exec("SELECT :a", { a: 1 })).message, "no value for the parameter :a");
    same(errorOf(() => db.exec("SELECT ?", [{}])).name, "TypeError");
    same(errorOf(() => db.exec("SELECT ?", [2n ** 63n])).name, "RangeError");
    same(errorOf(() => db.exec("SELECT load_extension('x')")).message, "no such function: load_extension");
  },

  async "no added key is absent: 20,000 keys in a blob and in a table, which grows"({ open }) {
    const db = await open();
    db.exec(`CREATE TABLE keys(key); INSERT INTO keys ${counting} SELECT 'key ' || i FROM n`, [20000]);
    db.exec("CREATE VIRTUAL TABLE seen USING bloom(source=keys, column=key, capacity=100)");
    db.exec(`INSERT INTO keys ${counting} SELECT i FROM n`, [20000]);
    same(db.exec("WITH f(filter) AS MATERIALIZED (SELECT bloom_build(key) FROM keys) SELECT sum(NOT bloom_contains(filter, key)) AS lost FROM f, keys"), [{ lost: 0 }]);
    same(db.exec("SELECT count(*) AS found FROM keys JOIN seen ON seen.key = keys.key"), [{ found: 40000 }]);
    const [{ wrong }] = db.exec(`${counting} SELECT count(*) AS wrong FROM n JOIN seen ON seen.key = 'absent ' || i`, [10000]);
    if (wrong > 500) throw new Error(`${wrong} of 10,000 absent keys are maybe present`);
  },

  async "a statement that fails has changed nothing"({ open }) {
    const db = await open();
    db.exec("CREATE TABLE t(a PRIMARY KEY); CREATE VIRTUAL TABLE seen USING bloom(source=t, column=a); INSERT INTO t VALUES (1)");
    errorOf(() => db.exec("INSERT INTO t VALUES (2), (1)"));
    same(db.exec("BEGIN; INSERT INTO t VALUES (3); ROLLBACK; SELECT (SELECT count(*) FROM t) AS n, count(*) AS found FROM t JOIN seen ON key = a"), [{ n: 1, found: 1 }]);
  },

  async "export and open: the same bytes and answers"({ open, SqliteError }) {
    const db = await open();
    same((await open(db.export())).exec("SELECT count(*) AS n FROM sqlite_master"), [{ n: 0 }]);
    db.exec(`CREATE TABLE t(a); INSERT INTO t ${counting} SELECT i FROM n; CREATE VIRTUAL TABLE seen USING bloom(source=t, column=a)`, [5000]);
    const bytes = db.export();
    const copy = await open(bytes);
    same(copy.export(), bytes);
    copy.exec("INSERT INTO t VALUES ('new')");
    same(copy.exec("SELECT count(*) AS found FROM t JOIN seen ON key = a"), [{ found: 5001 }]);
    same(db.exec("SELECT count(*) AS found FROM t"), [{ found: 5000 }]);
    const error = await rejection(open(new TextEncoder().encode("not a database ".repeat(100))));
    same([error instanceof SqliteError, error.message], [true, "file is not a database"]);
  },

  async "a closed database says so, and others go on"({ open }) {
    const [db, other] = [await open(), await open()];
    db.close();
    db.close();
    same(errorOf(() => db.exec("SELECT 1")).message, "the database is closed");
    same(errorOf(() => db.export()).message, "the database is closed");
    same(other.exec("SELECT 1 AS one"), [{ one: 1 }]);
  },

  async "memory is freed: 200 databases of 2 MB"({ open }) {
    for (let i = 0; i < 200; ++i) {
      const db = await open();
      db.exec("CREATE TABLE t AS SELECT zeroblob(?1) AS b", [2000000]);
      same(db.export().length > 2000000, true);
      db.close();
    }
  },

  async "a filter of 100 MB"({ open }) {
    const db = await open();
    same(db.exec("SELECT length(bloom_create(80000000, 0.01)) > 90000000 AS large"), [{ large: 1 }]);
  },
};

// Returns [name, stack of the error or null] of each check.
export async function runChecks(module) {
  const results = [];
  for (const [name, run] of Object.entries(checks)) {
    results.push([name, await run(module).then(() => null, (error) => String(error.stack ?? error))]);
  }
  return results;
}
