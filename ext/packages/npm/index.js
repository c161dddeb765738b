// Finds the extension for this machine: each platform has a package of its own.
const { platform, arch } = process;

const FILES = { win32: "bloom.dll", darwin: "bloom.dylib" };

/** Returns the paths of the installed packages for this platform. On Linux there is one for each C library. */
function installed() {
  const names = [`sqlite-bloom-${platform}-${arch}`];
  if (platform === "linux") names.push(`${names[0]}-musl`);
  const paths = names.flatMap((name) => {
    try {
      return [require.resolve(`${name}/${FILES[platform] ?? "bloom.so"}`)];
    } catch {
      return [];
    }
  });
  if (paths.length === 0)
    throw new Error(`sqlite-bloom: no package for this platform is installed (${names.join(" or ")}; npm needs its optional dependencies)`);
  // npm installs one of the two, other package managers both.
  return paths.length > 1 && usesMusl() ? paths.reverse() : paths;
}

/** Returns whether this Node runs on Linux with musl, for example on Alpine. */
function usesMusl() {
  if ("Deno" in globalThis) return false; // the report would ask the user for a permission, and load() tries both
  const { report } = process;
  const { excludeNetwork } = report;
  try {
    report.excludeNetwork = true; // otherwise the report resolves the addresses of open sockets
    return !report.getReport().header.glibcVersionRuntime;
  } catch {
    return false; // load() tries both
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Returns the path of the extension's file. Throws if no package for this platform is installed. */
function getLoadablePath() {
  return installed()[0];
}

/** Loads the extension into a connection of better-sqlite3, libsql, node:sqlite, sqlite3 or bun:sqlite. */
function load(db) {
  const [first, second] = installed();
  if (second === undefined) {
    db.loadExtension(first);
    return;
  }
  try {
    db.loadExtension(first);
  } catch {
    db.loadExtension(second);
  }
}

module.exports = { getLoadablePath, load };
