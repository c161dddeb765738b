// Where the extension of this machine lies: in a package of its own for each platform.
const { platform, arch } = process;

/** The path of the extension's file, for whatever can load one. */
function getLoadablePath() {
  const name = `sqlite-bloom-${platform}-${arch}`;
  try {
    return require.resolve(`${name}/bloom.so`);
  } catch {
    throw new Error(`sqlite-bloom: package ${name} must be installed, and is not (is there one for this platform?)`);
  }
}

/** Loads the extension into a connection of better-sqlite3, libsql or node:sqlite. */
function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
