#!/usr/bin/env python3
"""Makes the packages of compiled extensions: archives, Python wheels and sdist, npm packages, sqlpkg.json.

    ext/packages/pack.py FOLDER ADDRESS PLATFORM...

FOLDER/PLATFORM/loadable holds the file to load, and FOLDER/PLATFORM/installed, for platforms that have
one, the installed files of the archive for programs. ADDRESS is the URL of the folder where the
packages will be published, for sqlpkg.json. The packages go to FOLDER. FOLDER/amalgamation and
FOLDER/sqlite hold the sources of the sdist. The PLATFORM wasm stands alone: FOLDER/npm holds what
emscripten made.

The same input makes the same bytes: entries are sorted, belong to no user, and have the time of
SOURCE_DATE_EPOCH (seconds since 1970), which must be set.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import re
import stat
import sys
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from platform_tag import tag_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "ext/packages"
BUILD = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(sqlite-bloom VERSION ([\d.]+)", BUILD)[1]
SUMMARY = re.search(r'DESCRIPTION "(.*)"', BUILD)[1]
HOMEPAGE = re.search(r'HOMEPAGE_URL "(.*)"', BUILD)[1]
PAGES = f"{HOMEPAGE}/blob/v{VERSION}"
KEYWORDS = ["sqlite", "sqlite-extension", "bloom-filter"]
CLASSIFIERS = [
    "Development Status :: 5 - Production/Stable",
    "Intended Audience :: Developers",
    "License :: OSI Approved :: MIT License",
    "Operating System :: MacOS",
    "Operating System :: Microsoft :: Windows",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C++",
    "Programming Language :: Python :: 3",
    "Topic :: Database",
    "Typing :: Typed",
]
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


@dataclass
class Platform:
    file: str  # name of the extension's file
    npm: list  # what package.json says of each npm package: suffix of its name, os, cpu, libc
    sqlpkg: list  # names in sqlpkg.json


PLATFORMS = {
    "linux-x86_64": Platform("bloom.so", [("linux-x64", "linux", "x64", "glibc")], ["linux-amd64"]),
    "linux-aarch64": Platform("bloom.so", [("linux-arm64", "linux", "arm64", "glibc")], ["linux-arm64"]),
    # sqlpkg does not tell musl from glibc.
    "linux-x86_64-musl": Platform("bloom.so", [("linux-x64-musl", "linux", "x64", "musl")], []),
    "linux-aarch64-musl": Platform("bloom.so", [("linux-arm64-musl", "linux", "arm64", "musl")], []),
    "windows-x86_64": Platform("bloom.dll", [("win32-x64", "win32", "x64", None)], ["windows-amd64"]),
    "macos-universal": Platform(
        "bloom.dylib",
        [("darwin-x64", "darwin", "x64", None), ("darwin-arm64", "darwin", "arm64", None)],
        ["darwin-amd64", "darwin-arm64"],
    ),
}


def tar_gz(path, files):
    """Writes an archive. `files`: (name, Path or bytes) of each entry; a Path keeps its mode, or its link."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=EPOCH) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, content in sorted(files):
                entry = tarfile.TarInfo(name)
                entry.mtime = EPOCH
                if isinstance(content, Path) and content.is_symlink():
                    entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(content)
                    archive.addfile(entry)
                    continue
                entry.mode = mode_of(content)
                data = bytes_of(content)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))


def zipped(path, files):
    """Writes an archive as tar_gz() does, without links."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files):
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the mode counts
            entry.external_attr = (stat.S_IFREG | mode_of(content)) << 16
            archive.writestr(entry, bytes_of(content))


def bytes_of(content):
    return content.read_bytes() if isinstance(content, Path) else content


def mode_of(content):
    is_program = isinstance(content, Path) and content.stat().st_mode & stat.S_IXUSR
    return 0o755 if is_program else 0o644


def json_of(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def loadable_archive(folder, name, platform):
    """The extension alone. Returns the name of the archive."""
    files = [(platform.file, folder / name / "loadable" / platform.file), ("LICENSE", ROOT / "LICENSE")]
    stem = f"sqlite-bloom-{VERSION}-loadable-{name}"
    if name.startswith("windows"):
        zipped(folder / f"{stem}.zip", files)
        return f"{stem}.zip"
    tar_gz(folder / f"{stem}.tar.gz", files)
    return f"{stem}.tar.gz"


def full_archive(folder, name):
    """All that cmake --install installs, for platforms that have it."""
    installed = folder / name / "installed"
    top = f"sqlite-bloom-{VERSION}-{name}"
    if installed.exists():
        files = [(f"{top}/{path.relative_to(installed)}", path) for path in installed.rglob("*") if path.is_symlink() or path.is_file()]
        tar_gz(folder / f"{top}.tar.gz", files)


def python_metadata():
    # PyPI shows the page elsewhere, so relative links would lead nowhere.
    readme = re.sub(r"\]\((?!\w+:|#)", f"]({PAGES}/", (ROOT / "README.md").read_text())
    classifiers = "".join(f"Classifier: {each}\n" for each in CLASSIFIERS)
    return f"""\
Metadata-Version: 2.1
Name: sqlite-bloom
Version: {VERSION}
Summary: {SUMMARY}: a loadable extension
Keywords: {",".join(KEYWORDS)}
Author: the authors of sqlite-bloom
License: MIT
{classifiers}Project-URL: Homepage, {HOMEPAGE}
Project-URL: Changes, {PAGES}/CHANGELOG.md
Project-URL: Issues, {HOMEPAGE}/issues
Requires-Python: >=3.7
Description-Content-Type: text/markdown

{readme}""".encode()


def wheel(folder, name, platform):
    module = folder / name / "loadable" / platform.file
    tag = f"py3-none-{tag_of(module)}"
    info = f"sqlite_bloom-{VERSION}.dist-info"
    python = PACKAGES / "sqlite_bloom"
    files = [
        ("sqlite_bloom/__init__.py", python / "__init__.py"),
        ("sqlite_bloom/py.typed", python / "py.typed"),
        (f"sqlite_bloom/{platform.file}", module),
        (f"{info}/LICENSE", ROOT / "LICENSE"),
        (f"{info}/METADATA", python_metadata()),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: sqlite-bloom\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()),
    ]
    record = "".join(f"{file},sha256={digest_of(content)},{len(bytes_of(content))}\n" for file, content in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    zipped(folder / f"sqlite_bloom-{VERSION}-{tag}.whl", files)


def sdist(folder):
    """The source for pip, with SQLite's headers: installing it needs a C++20 compiler and setuptools."""
    top = f"sqlite_bloom-{VERSION}"
    python = PACKAGES / "sqlite_bloom"
    setup = (PACKAGES / "sdist/setup.py").read_text().replace("@VERSION@", VERSION)
    files = [
        ("PKG-INFO", python_metadata()),
        ("LICENSE", ROOT / "LICENSE"),
        ("pyproject.toml", PACKAGES / "sdist/pyproject.toml"),
        ("setup.py", setup.encode()),
        ("sqlite_bloom/__init__.py", python / "__init__.py"),
        ("sqlite_bloom/py.typed", python / "py.typed"),
        ("source/bloom.cc", folder / "amalgamation/bloom.cc"),
        ("source/sqlite3.h", folder / "sqlite/sqlite3.h"),
        ("source/sqlite3ext.h", folder / "sqlite/sqlite3ext.h"),
    ]
    tar_gz(folder / f"{top}.tar.gz", [(f"{top}/{name}", content) for name, content in files])


def digest_of(content):
    return base64.urlsafe_b64encode(hashlib.sha256(bytes_of(content)).digest()).rstrip(b"=").decode()


def npm_package(folder, description, readme, files, **fields):
    package = {"version": VERSION, "description": description, "license": "MIT"} | fields
    package |= {"homepage": HOMEPAGE, "bugs": f"{HOMEPAGE}/issues", "repository": {"type": "git", "url": f"git+{HOMEPAGE}.git"}}
    package["files"] = [name for name, _ in files]
    readme = f"# {package['name']}\n\n{readme}\n[Documentation]({PAGES}/README.md)\n"
    files = files + [("package.json", json_of(package)), ("README.md", readme.encode()), ("LICENSE", ROOT / "LICENSE")]
    tar_gz(folder / f"{package['name']}-{VERSION}.tgz", [(f"package/{name}", content) for name, content in files])


def npm_platforms(folder, name, platform):
    """The npm packages of a platform."""
    module = (platform.file, folder / name / "loadable" / platform.file)
    for suffix, system, processor, libc in platform.npm:
        libraries = {"libc": [libc]} if libc else {}
        readme = "The file that [sqlite-bloom](https://www.npmjs.com/package/sqlite-bloom) loads on this platform. Install sqlite-bloom instead.\n"
        npm_package(folder, "What sqlite-bloom loads on this platform", readme, [module],
                    name=f"sqlite-bloom-{suffix}", type="commonjs", os=[system], cpu=[processor], **libraries)


def npm_base(folder):
    """The npm package that users name. It picks the package of the platform, and is the same in every build."""
    files = [(name, PACKAGES / "npm" / name) for name in ("index.js", "index.d.ts")]
    suffixes = [suffix for platform in PLATFORMS.values() for suffix, *_ in platform.npm]
    npm_package(folder, f"{SUMMARY}: a loadable extension", (PACKAGES / "npm/README.md").read_text(), files,
                name="sqlite-bloom", keywords=KEYWORDS, engines={"node": ">=18"}, type="commonjs", main="./index.js", types="./index.d.ts",
                exports={".": {"types": "./index.d.ts", "default": "./index.js"}},
                optionalDependencies={f"sqlite-bloom-{suffix}": VERSION for suffix in suffixes})


def npm_wasm(folder):
    """The npm package for WebAssembly, which loads nothing: SQLite is part of it."""
    source = PACKAGES / "wasm"
    files = [(path.name, path) for path in (*source.glob("*.mjs"), source / "index.d.ts", *(folder / "npm").iterdir())]
    types = {"types": "./index.d.ts"}
    npm_package(folder, f"{SUMMARY}: SQLite and the extension as WebAssembly", (source / "README.md").read_text(), sorted(files),
                name="sqlite-bloom-wasm", type="module", keywords=KEYWORDS + ["webassembly"], sideEffects=False, engines={"node": ">=18"},
                exports={".": types | {"node": "./node.mjs", "default": "./browser.mjs"}, "./engine.wasm": "./engine.wasm"})


def sqlpkg(folder, address, archives):
    """`archives`: the name of the archive for each name of a platform in sqlpkg.json."""
    sums = {name: "sha256-" + hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in set(archives.values())}
    (folder / "sqlpkg.json").write_bytes(json_of({
        "owner": "sqlite-bloom",
        "name": "bloom",
        "version": VERSION,
        "homepage": HOMEPAGE,
        "repository": HOMEPAGE,
        "authors": ["the authors of sqlite-bloom"],
        "license": "MIT",
        "description": f"{SUMMARY}: functions, aggregates and a virtual table.",
        "keywords": ["bloom-filter", "membership", "join", "lookup"],
        "symbols": ["bloom", "bloom_build", "bloom_contains", "bloom_add", "bloom_union", "bloom_open", "bloom_halve", "bloom_plan"],
        "assets": {"path": address, "files": archives, "checksums": dict(sorted(sums.items()))},
    }))


def main():
    folder, address, *names = sys.argv[1:]
    folder = Path(folder)
    if names == ["wasm"]:
        npm_wasm(folder)
        return
    archives = {}
    for name in names:
        platform = PLATFORMS[name]
        archive = loadable_archive(folder, name, platform)
        archives |= {each: archive for each in platform.sqlpkg}
        full_archive(folder, name)
        wheel(folder, name, platform)
        npm_platforms(folder, name, platform)
    npm_base(folder)
    sdist(folder)
    sqlpkg(folder, address, archives)


main()
