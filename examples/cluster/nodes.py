"""Nodes of a dqlite cluster on this machine, each a process: started, killed, asked by HTTP. For cluster.py."""

import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import time


STARTS = 10  # at most, for a node that loses its port to another program


class Refused(Exception):
    """A node has answered with an error, or not at all."""


class Ended(Exception):
    """The process of a node has ended by itself."""


class Node:
    def __init__(self, program, extension, folder, join=None):
        self.program = program
        self.extension = extension
        self.folder = folder
        self.join = join
        self.address = None  # until the first start; the cluster knows the node by it from then on
        self.listens = None
        self.process = None
        self.log_begin = 0

    def start(self):
        """Starts the node, and again if another program has taken its port in the meantime."""
        is_new = self.address is None
        for attempts_left in reversed(range(STARTS)):
            if is_new:
                self.address = f"127.0.0.1:{free_port()}"
                shutil.rmtree(self.folder, ignore_errors=True)  # what the attempt before has left
                os.makedirs(self.folder)
            self.launch()
            try:
                return wait_until(self.answers, f"{self.address} does not come up, see {self.folder}.log")
            except Ended:
                self.kill()
                if not (attempts_left and self.lost_its_port()):
                    raise
                time.sleep(0 if is_new else 1)  # an old address cannot change: the other program has to go

    def launch(self):
        command = [self.program, "-dir", self.folder, "-address", self.address]
        command += ["-join", self.join.address] if self.join else []
        command += ["-extension", self.extension] if self.extension else []
        with open(self.folder + ".log", "ab") as log:
            self.log_begin = log.tell()
            # A node ends when its input does: none outlives this program.
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.listens = self.process.stdout.readline().decode().strip()  # empty if the node has ended

    def answers(self):
        if self.process.poll() is not None or not self.listens:
            raise Ended(f"{self.address} has ended: {self.last_words()}")
        return self.state()

    def lost_its_port(self):
        return "address already in use" in self.last_words() or not is_free(int(self.address.split(":")[1]))

    def last_words(self):
        with open(self.folder + ".log", "rb") as log:
            log.seek(self.log_begin)
            return log.read().decode(errors="replace")[-500:].strip()

    def kill(self):
        """As when the machine fails: SIGKILL, to this process alone."""
        process, self.process = self.process, None
        if process:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def exec(self, sql, *args):
        return self.request("POST", "/exec", {"sql": sql, "args": args})

    def query(self, sql, *args):
        return self.request("POST", "/query", {"sql": sql, "args": args})

    def state(self):
        return self.request("GET", "/state")

    def alone(self, ask):
        """What `ask` gives while this node leads: dqlite sends every statement to the leader, whose own copy answers."""
        while True:
            self.lead()
            result = ask()
            if self.state()["leader"] == self.address:
                return result

    def lead(self):
        if self.state()["leader"] != self.address:
            self.request("POST", "/lead", {})
            wait_until(lambda: self.state()["leader"] == self.address, f"{self.address} does not become the leader")

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.listens, timeout=30)
        try:
            connection.request(method, path, json.dumps(body))
            reply = connection.getresponse()
            text = reply.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"{self.address} does not answer: {error}") from error
        finally:
            connection.close()
        if reply.status != 200:
            raise Refused(text.strip())
        return json.loads(text)


class Cluster:
    """Three nodes, as long as the `with` statement runs."""

    def __init__(self, program, extension, folder):
        first = Node(program, extension, os.path.join(folder, "1"))
        others = (Node(program, extension, os.path.join(folder, str(number)), join=first) for number in (2, 3))
        self.nodes = [first, *others]

    def __enter__(self):
        try:
            # One after another: two that join at once get in each other's way.
            for node in self.nodes:
                node.start()
            self.wait_for_voters()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()

    def wait_for_voters(self):
        """Until every node counts: fewer could not lose one and go on."""
        wait_until(lambda: self.nodes[0].state()["voters"] == len(self.nodes), "not all nodes have become voters")

    def running(self):
        return [node for node in self.nodes if node.process]

    def leader(self):
        address = self.running()[0].state()["leader"]
        return next(node for node in self.nodes if node.address == address)

    def restart(self, node):
        """Gives the seconds until it answers and counts again."""
        began = time.monotonic()
        node.start()
        self.wait_for_voters()
        return time.monotonic() - began


def wait_until(condition, otherwise, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            result, reason = condition(), ""
        except Refused as error:
            result, reason = None, f" ({error})"
        if result:
            return result
        if time.monotonic() > deadline:
            raise Refused(otherwise + reason)
        time.sleep(0.02)


def free_port():
    """A port that is free now, and that Linux does not give to clients by default, so that it stays free while the node is down."""
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        if is_free(port):
            return port


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
