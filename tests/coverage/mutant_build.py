"""Builds the core and the tests once, and then with one file of the core replaced:

    from mutant_build import ROOT, Build

A mutant has its own folder, in which its file lies as core/GROUP/NAME and comes before the true one on
the include path. Only the objects that depend on it are compiled again.
"""

import functools
import json
import math
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutation"
# Limits of a test, in bytes and seconds: a mutant may allocate without end or never stop.
MEMORY = 8 << 30
LONGEST = 900

# Tests of the shared object, measurements, and tests of what SQLite and sql/ do when a process or a disk fails.
NOT_ABOUT_CORE = re.compile(r"binary|bench\..*|kill|load|faults\.(power_cuts|disk_errors|locks)")

# Precompiled headers, for speed.
PRECOMPILE = """
cmake_language(DEFER CALL target_precompile_headers bloom_core PRIVATE
  <algorithm> <cmath> <functional> <optional> <string> <variant> <vector>)
cmake_language(DEFER CALL target_precompile_headers bloom_sql PRIVATE
  <algorithm> <functional> <memory> <optional> <string> <variant> <vector>)
cmake_language(DEFER CALL target_precompile_headers core_tests PRIVATE
  <gtest/gtest.h> <algorithm> <cmath> <functional> <map> <random> <string> <variant> <vector>)
"""


class Noticed(Exception):
    """A mutant did not survive; the text says how it ended."""


def run(command):
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_test(command, folder, seconds):
    """Returns the processor time in seconds. Raises Noticed unless the test succeeds within `seconds`."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    test = subprocess.Popen(command, cwd=folder, env=os.environ | {"TMPDIR": str(folder)}, start_new_session=True,
                            preexec_fn=limit, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    waits_for_nothing = threading.Timer(LONGEST, os.killpg, (test.pid, signal.SIGKILL))
    waits_for_nothing.start()
    _, status, usage = os.wait4(test.pid, 0)
    waits_for_nothing.cancel()
    test.returncode = os.waitstatus_to_exitcode(status)
    if test.returncode != 0:
        raise Noticed("timed out" if test.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else "noticed")
    return usage.ru_utime + usage.ru_stime


class Unit:
    """A source file that is compiled."""

    def __init__(self, entry):
        self.command = shlex.split(entry["command"])
        self.source = Path(entry["file"]).relative_to(ROOT)
        self.layer = self.source.parts[0]
        self.object = self.command[self.command.index("-o") + 1]

    def compile_with(self, folder):
        """Compiles the unit with the files of the folder and returns the object. Raises Noticed if it does not compile."""
        made = folder / self.object.replace("/", "_")
        command = [self.command[0], f"-I{folder}", *self.command[1:]]
        command[command.index(self.object)] = str(made)
        if (folder / self.source).exists():
            command[-1] = str(folder / self.source)
        if subprocess.run(command, cwd=FOLDER, capture_output=True).returncode != 0:
            raise Noticed("not compiled")
        return made


class Build:
    def __init__(self, jobs):
        FOLDER.mkdir(parents=True, exist_ok=True)
        os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)  # Unit takes the first word for the compiler
        (FOLDER / "precompile.cmake").write_text(PRECOMPILE)
        run(["cmake", "-S", ROOT, "-B", FOLDER, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -w",
             f"-DCMAKE_PROJECT_INCLUDE={FOLDER}/precompile.cmake"])
        run(["ninja", "-j", str(jobs), "bloom", "core_tests", "core_example"])
        entries = json.loads((FOLDER / "compile_commands.json").read_text())
        self.units = [unit for unit in map(Unit, (entry for entry in entries if "cmake_pch" not in entry["file"]))
                      if (FOLDER / unit.object).exists()]
        self.links = {target: shlex.split(run(["ninja", "-t", "commands", target]).splitlines()[-1].split("&&")[1])
                      for target in ("core_tests", "bloom")}
        self.programs = {"core_tests": FOLDER / "tests" / "core_tests", "bloom": FOLDER / "bloom.so"}
        self.lock = threading.Lock()
        self.seconds = {}  # of processor time that tests take when nothing is broken

    @functools.cache
    def dependents(self, path):
        return [unit for unit in self.units
                if str(ROOT / path) in run(["ninja", "-t", "deps", unit.object]).split()]

    @functools.cached_property
    def sql_tests(self):
        """The commands of ctest that take the extension as an argument, without those that a wrong core cannot fail."""
        tests = json.loads(run(["ctest", "--show-only=json-v1"]))["tests"]
        return [test["command"] for test in tests
                if not NOT_ABOUT_CORE.fullmatch(test["name"]) and str(self.programs["bloom"]) in test.get("command", [])[1:]]

    def result_of(self, mutant):
        with tempfile.TemporaryDirectory(dir=FOLDER, prefix="mutant-") as name:
            folder = Path(name)
            (folder / mutant.path).parent.mkdir(parents=True)
            (folder / mutant.path).write_text(mutant.applied_to((ROOT / mutant.path).read_text()))
            try:
                self.examine(mutant.path, folder)
            except Noticed as how:
                return str(how)
        return "survived"

    def examine(self, path, folder):
        """Runs the tests that are quick to build and run first: most mutants fail these."""
        units = self.dependents(path)
        made = {unit: unit.compile_with(folder) for unit in units if unit.layer == "core"}
        tests = [unit for unit in units if unit.layer == "tests"]
        near = [unit for unit in tests if unit.source.stem in (f"{Path(path).stem}_test", "filter_test")]
        if len(near) < len(tests):
            made |= {unit: unit.compile_with(folder) for unit in near}
            others = [unit for unit in tests if unit not in near]
            self.test_core(self.link("core_tests", made, folder, without=others), folder, "-Rate.*")
        made |= {unit: unit.compile_with(folder) for unit in tests if unit not in made}
        core_tests = self.link("core_tests", made, folder)
        self.test_core(core_tests, folder, "-Rate.*")
        made |= {unit: unit.compile_with(folder) for unit in units if unit not in made}
        if all(made[unit].read_bytes() == (FOLDER / unit.object).read_bytes() for unit in made):
            raise Noticed("same code")
        self.test_core(core_tests, folder, "Rate.*")
        self.test_sql(self.link("bloom", made, folder), folder)

    def link(self, target, made, folder, without=()):
        """Links the program with the objects in `made` instead of those of their units."""
        left_out = {unit.object for unit in without}
        command = [part for part in self.links[target] if part not in left_out]
        output = command.index("-o") + 1
        program = folder / self.programs[target].name
        command[output] = str(program)
        for unit, replacement in made.items():
            if unit.object in command:
                command[command.index(unit.object)] = str(replacement)
            elif unit.layer == "core" or target == "bloom" and unit.layer != "tests":
                command.insert(output + 1, str(replacement))  # before the archive that has the other
        if subprocess.run(command, cwd=FOLDER, capture_output=True).returncode != 0:
            raise Noticed("not compiled")
        return program

    def test_core(self, program, folder, tests):
        self.test("core_tests", program, ["core_tests", f"--gtest_filter={tests}", "--gtest_fail_fast"], folder)

    def test_sql(self, program, folder):
        for command in self.sql_tests:
            self.test("bloom", program, command, folder)

    def test(self, target, program, command, folder):
        true_program = str(self.programs[target])

        def with_program(path):
            return [str(path) if part in (target, true_program) else part for part in command]

        key = tuple(command)
        with self.lock:
            if key not in self.seconds:
                try:
                    self.seconds[key] = run_test(with_program(true_program), folder, LONGEST)
                except Noticed as how:
                    raise RuntimeError(f"{how} with nothing broken: {shlex.join(command)}") from None
        run_test(with_program(program), folder, math.ceil(2 + 4 * self.seconds[key]))
