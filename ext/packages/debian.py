#!/usr/bin/env python3
"""Writes what Debian's packages need: changelog.gz and copyright, or a whole source package.

    ext/packages/debian.py files FOLDER     FOLDER/changelog.gz and FOLDER/copyright
    ext/packages/debian.py source FOLDER    FOLDER/debian, beside the unpacked sources in FOLDER

The changelog has one entry for each version of CHANGELOG.md, the newest first. The date of a version
without one is SOURCE_DATE_EPOCH (seconds since 1970), which must be set. bloom_debug() of what the source
package builds names the commit BLOOM_COMMIT, if it is set.
"""
import gzip
import os
import re
import sys
import time
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / "CMakeLists.txt").read_text()
HOMEPAGE = re.search(r'HOMEPAGE_URL "(.*)"', BUILD)[1]
CONTACT = re.search(r'CPACK_PACKAGE_CONTACT "(.*)"', (ROOT / "ext/packages/CMakeLists.txt").read_text())[1]
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
COMMIT = os.environ.get("BLOOM_COMMIT", "")


def changelog():
    entries = []
    for version, date in re.findall(r"^## ([0-9.]+)(?: \((\d{4}-\d\d-\d\d)\))?$", (ROOT / "CHANGELOG.md").read_text(), re.M):
        when = datetime.fromisoformat(date) if date else datetime(*time.gmtime(EPOCH)[:6])
        text = f"  * Version {version}. What changed:\n    {HOMEPAGE}/blob/v{version}/CHANGELOG.md"
        stamp = format_datetime(when.replace(tzinfo=timezone.utc))
        entries.append(f"sqlite-bloom ({version}) unstable; urgency=medium\n\n{text}\n\n -- {CONTACT}  {stamp}\n")
    return "\n".join(entries)


def copyright_file():
    holders, _, licence = (ROOT / "LICENSE").read_text().partition("Copyright")[2].partition("\n")
    text = "\n".join(f" {line}" if line else " ." for line in licence.strip().splitlines())
    return f"""\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sqlite-bloom
Source: {HOMEPAGE}

Files: *
Copyright:{holders.replace("(c)", "").replace("  ", " ")}
License: Expat
{text}
"""


CONTROL = """\
Source: sqlite-bloom
Section: libs
Priority: optional
Maintainer: {contact}
Build-Depends: debhelper-compat (= 13), cmake, libsqlite3-dev
Standards-Version: 4.6.2
Homepage: {homepage}
Rules-Requires-Root: no

Package: libsqlite3-mod-bloom
Architecture: any
Multi-Arch: same
Depends: ${{shlibs:Depends}}, ${{misc:Depends}}
Enhances: libsqlite3-0
Suggests: sqlite-bloom-doc
Description: Bloom filters inside SQLite
 A loadable module (.load mod_bloom) with functions and virtual tables.
 A filter answers certainly absent or maybe present, so most lookups
 that find nothing are skipped.

Package: libsqlite-bloom-dev
Section: libdevel
Architecture: any
Multi-Arch: same
Depends: ${{misc:Depends}}
Suggests: libsqlite3-dev
Description: Bloom filters inside SQLite - development files
 Headers and a static library, for programs that have the extension or its core
 built in.

Package: sqlite-bloom-doc
Section: doc
Architecture: all
Multi-Arch: foreign
Depends: ${{misc:Depends}}
Description: Bloom filters inside SQLite - documentation
 The documentation and the examples, as Markdown and source files.
"""

RULES = """\
#!/usr/bin/make -f
%:
\tdh $@ --buildsystem=cmake
override_dh_auto_configure:
\tdh_auto_configure -- -DBLOOM_TESTS=OFF -DCMAKE_INSTALL_DOCDIR=share/doc/sqlite-bloom-doc -DBLOOM_COMMIT={commit}
override_dh_compress:
\tdh_compress -X.md -X.svg -X.py -X.sql
# CHANGELOG.md stays what README.md links to, and is not Debian's changelog.
override_dh_installchangelogs:
\tdh_installchangelogs -XCHANGELOG.md
# It would move what the two files of the module share into a third, which lintian takes for a stripped library.
override_dh_dwz:
"""


def source(folder):
    debian = folder / "debian"
    (debian / "source").mkdir(parents=True)
    multiarch = "usr/lib/*"
    files = {
        "control": CONTROL.format(contact=CONTACT, homepage=HOMEPAGE),
        "rules": RULES.format(commit=COMMIT),
        "changelog": changelog(),
        "copyright": copyright_file(),
        "source/format": "3.0 (native)\n",
        "libsqlite3-mod-bloom.install": f"{multiarch}/sqlite3/*.so\n{multiarch}/mod_bloom.so\n",
        "libsqlite-bloom-dev.install": f"usr/include\n{multiarch}/*.a\n{multiarch}/cmake\n{multiarch}/pkgconfig\n",
        "sqlite-bloom-doc.install": "usr/share/doc/sqlite-bloom-doc\n",
    }
    for name, text in files.items():
        (debian / name).write_text(text)
    (debian / "rules").chmod(0o755)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("files", "source"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    if sys.argv[1] == "source":
        source(folder)
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "changelog.gz").write_bytes(gzip.compress(changelog().encode(), 9, mtime=0))
    (folder / "copyright").write_text(copyright_file())


main()
