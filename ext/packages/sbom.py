#!/usr/bin/env python3
"""Prints the bill of materials of a release, as CycloneDX 1.5.

    ext/packages/sbom.py FOLDER

Lists each file of FOLDER with its SHA-256, and the libraries of others that some of the files contain.
The same files make the same output.
"""
import hashlib
import json
import re
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(sqlite-bloom VERSION ([\d.]+)", BUILD)[1]
HOMEPAGE = re.search(r'HOMEPAGE_URL "(.*)"', BUILD)[1]
SQLITE_IN_WASM = re.search(r"^sqlite_in_wasm=(.*)", (ROOT / "ext/packages/wasm/compile.sh").read_text(), re.M)[1]
ZIG = re.search(r"^zig_version=(.*)", (ROOT / "ext/packages/zig.sh").read_text(), re.M)[1]

# What is linked into files: name, version, licence, and which files.
LIBRARIES = [
    ("sqlite", SQLITE_IN_WASM, "blessing", lambda name: "wasm" in name),
    ("libc++ of Zig", ZIG, "Apache-2.0 WITH LLVM-exception", lambda name: re.search("musl|darwin|macos", name)),
    ("libstdc++ of MinGW g++", "12", "GPL-3.0-or-later WITH GCC-exception-3.1", lambda name: re.search("win32|windows|win_amd64", name)),
]


def component(name, version, licence, **fields):
    key = "expression" if " WITH " in licence else "license"
    value = licence if key == "expression" else {"id": licence}
    licences = [{key: value}]
    return {"bom-ref": f"{name}@{version}", "name": name, "version": version, "licenses": licences} | fields


def main():
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.iterdir() if path.suffix in (".deb", ".gz", ".xz", ".zip", ".tgz", ".whl"))
    whole = component("sqlite-bloom", VERSION, "MIT", type="library", externalReferences=[{"type": "website", "url": HOMEPAGE}])
    components, dependencies = [], []
    for path in files:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        components.append(component(path.name, VERSION, "MIT", type="file", hashes=[{"alg": "SHA-256", "content": digest}]))
        inside = [f"{name}@{version}" for name, version, _, contains in LIBRARIES if contains(path.name)]
        dependencies.append({"ref": f"{path.name}@{VERSION}", "dependsOn": inside})
    components += [component(name, version, licence, type="library") for name, version, licence, _ in LIBRARIES]
    text = json.dumps([whole, components])
    print(json.dumps({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
        "version": 1,
        "metadata": {"component": whole},
        "components": components,
        "dependencies": dependencies,
    }, indent=2))


main()
