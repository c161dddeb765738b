// Finds the extension for this machine: each platform has a package of its own.
const { platform, arch } = process;

const FILES = { win32: "bloom.dll", darwin: "bloom.dylib" };

/** Returns whether this Node runs on Linux with musl, for example on Alpine. */
function usesMusl() {
  if (platform !== "linux") return false;
  const { report } = process;
  const { excludeNetwork } = report;
  report.excludeNetwork = true; // otherwise the report resolves the addresses of open sockets
  const { header } = report.getReport();
  report.excludeNetwork = excludeNetwork;
  return !header.glibcVersionRuntime;
}

/** Returns the path of the extension's file. Throws if no package for this platform is installed. */
function getLoadablePath() {
  const name = `sqlite-bloom-${platform}-${arch}${usesMusl() ? "-musl" : ""}`;
  try {
    return require.resolve(`${name}/${FILES[platform] ?? "bloom.so"}`);
  } catch {
    throw new Error(`sqlite-bloom: package ${name} must be installed, and is not (is there one for this platform?)`);
  }
}

/** Loads the extension into a connection of better-sqlite3, libsql or node:sqlite. */
function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
