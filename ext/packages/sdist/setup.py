"""Compiles the extension and makes a wheel of it. PKG-INFO describes the package."""

import sys
from email import message_from_string
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
ENTRY_POINTS = ["sqlite3_bloom_init", "sqlite3_modbloom_init"]


class Loadable(build_ext):
    """SQLite loads the file, not Python: the file has no suffix or entry point of Python."""

    def get_ext_filename(self, fullname):
        return fullname.replace(".", "/") + SUFFIX

    def get_export_symbols(self, ext):
        return ENTRY_POINTS


class PlatformWheel(bdist_wheel):
    """One wheel serves all versions of Python."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


info = message_from_string(Path("PKG-INFO").read_text(encoding="utf-8"))
msvc = sys.platform == "win32"
setup(
    name="sqlite-bloom",
    version="@VERSION@",
    description=info["Summary"],
    long_description=info.get_payload(),
    long_description_content_type="text/markdown",
    license="MIT",
    url=info["Project-URL"].split(", ")[1],
    python_requires=">=3.7",
    packages=["sqlite_bloom"],
    package_data={"sqlite_bloom": ["py.typed"]},
    ext_modules=[
        Extension(
            "sqlite_bloom.bloom",
            ["source/bloom.cc"],
            include_dirs=["source"],
            depends=["source/sqlite3.h", "source/sqlite3ext.h"],
            language="c++",
            extra_compile_args=["/std:c++20", "/EHsc", "/O2"] if msvc else ["-std=c++20", "-O2", "-g0"],
            extra_link_args=["-Wl,-z,nodelete"] if sys.platform.startswith("linux") else [],
        )
    ],
    cmdclass={"build_ext": Loadable, "bdist_wheel": PlatformWheel},
)
