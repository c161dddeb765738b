#!/usr/bin/env python3
"""Finds out by reading a loadable extension where it runs, as the platform tag of a wheel.

    ext/packages/platform_tag.py FILE

Prints, for example, manylinux_2_24_x86_64: Linux with glibc 2.24 or newer. Knows shared libraries of
Linux (glibc, musl), Windows and macOS. ELF files are read by readelf, of binutils.
"""
import os
import re
import struct
import subprocess
import sys

LIBSTDCXX = [((3, 4, 19), (2, 17)), ((3, 4, 22), (2, 24)), ((3, 4, 24), (2, 27)), ((3, 4, 28), (2, 31))]
PE_MACHINES = {0x8664: "amd64", 0xAA64: "arm64"}
MACH_O_PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
UNIVERSAL, MACH_O = 0xCAFEBABE, 0xFEEDFACF
LC_BUILD_VERSION = 0x32


def tag_of(path):
    """Returns the platform tag. Raises ValueError if the file is none of the known kinds."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x7fELF"):
        return linux_tag(path)
    if data.startswith(b"MZ"):
        return windows_tag(data)
    if data[:4] in (struct.pack(">I", UNIVERSAL), struct.pack("<I", MACH_O)):
        return macos_tag(data)
    raise ValueError(f"{path} is no shared library of Linux, Windows or macOS")


def linux_tag(path):
    def readelf(option):
        command = ["readelf", "-W", option, path]
        return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout

    machine = re.search(r"Machine: +(.+)", readelf("--file-header"))[1]
    processor = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}[machine]
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic"))
    if "libc.so" in needed:
        # musl has no symbol versions. 1.2 is the series that all supported systems have.
        return f"musllinux_1_2_{processor}"
    info = readelf("--version-info")
    glibc = max(numbers(version)[:2] for version in re.findall(r"Name: GLIBC_([0-9.]+)", info))
    libstdcxx = max((numbers(version) for version in re.findall(r"Name: GLIBCXX_([0-9.]+)", info)), default=(0,))
    # Of the systems with this libstdc++, the oldest has this glibc (policies of manylinux).
    beside = next((policy for newest, policy in LIBSTDCXX if libstdcxx <= newest), None)
    if beside is None:
        raise ValueError(f"{path} needs GLIBCXX_{'.'.join(map(str, libstdcxx))}, which is newer than all manylinux policies known here")
    major, minor = max(glibc, beside)
    return f"manylinux_{major}_{minor}_{processor}"


def numbers(version):
    return tuple(map(int, version.split(".")))


def windows_tag(data):
    (header,) = struct.unpack_from("<I", data, 0x3C)
    (machine,) = struct.unpack_from("<H", data, header + 4)
    return f"win_{PE_MACHINES[machine]}"


def macos_tag(data):
    if struct.unpack_from(">I", data)[0] == UNIVERSAL:
        (count,) = struct.unpack_from(">I", data, 4)
        parts = [struct.unpack_from(">5I", data, 8 + 20 * i)[2:4] for i in range(count)]
        slices = [data[offset : offset + size] for offset, size in parts]
    else:
        slices = [data]
    processors = {MACH_O_PROCESSORS[struct.unpack_from("<I", each, 4)[0]] for each in slices}
    major, minor = max(oldest_macos(each) for each in slices)
    processor = "universal2" if len(processors) == 2 else processors.pop()
    return f"macosx_{major}_{minor}_{processor}"


def oldest_macos(data):
    (commands,) = struct.unpack_from("<I", data, 16)
    position = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, position)
        if command == LC_BUILD_VERSION:
            (version,) = struct.unpack_from("<I", data, position + 12)
            return version >> 16, version >> 8 & 0xFF
        position += size
    raise ValueError("a part of the file does not say which macOS it needs")


if __name__ == "__main__":
    print(tag_of(sys.argv[1]))
