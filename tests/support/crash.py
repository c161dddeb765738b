"""Processes that write to a database until SIGKILL ends them:

    crashes = Crashes()    # before this process opens a database
    crashes.run(path, extension, statements, instructions)

A process that has a database open must not fork: the child would take SQLite's locks for its own. So a process that never
opens a database forks for each run.
"""

import contextlib
import multiprocessing
import os
import signal
import sqlite3


def die(path, extension, statements, instructions):
    """Runs the statements, pairs of SQL and its arguments. Kills this process in the first statement that takes more
    instructions of SQLite's virtual machine, or after the last statement."""

    def kill():
        os.kill(os.getpid(), signal.SIGKILL)

    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=0)
        if extension:
            db.enable_load_extension(True)
            db.load_extension(extension)
        db.execute("PRAGMA synchronous = OFF")  # the system outlives the process
        db.set_progress_handler(kill, instructions)
        for sql, arguments in statements:
            with contextlib.suppress(sqlite3.Error):
                db.execute(sql, arguments)
    except sqlite3.Error:
        pass  # another process has locked the file
    kill()


class Crashes:
    def __init__(self):
        self.pipe, other = multiprocessing.Pipe()
        if os.fork() == 0:
            self.pipe.close()
            self.serve(other)
        other.close()

    def serve(self, pipe):
        try:
            while True:
                arguments = pipe.recv()
                child = os.fork()
                if child == 0:
                    try:
                        die(*arguments)
                    finally:
                        os._exit(1)
                pipe.send(os.waitpid(child, 0)[1])
        except EOFError:
            os._exit(0)
        finally:
            os._exit(1)

    def run(self, path, extension, statements, instructions):
        self.pipe.send((path, extension, statements, instructions))
        status = self.pipe.recv()
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"it ended with the status {status}"
