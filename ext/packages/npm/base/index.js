// Finds the extension for this machine: each platform has a package of its own.
const { platform, arch } = process;

/** Returns the path of the extension's file. Throws if no package for this platform is installed. */
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
