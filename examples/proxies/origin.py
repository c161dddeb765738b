"""The server behind all proxies. It has every page, and takes its time."""

import hashlib
import time

from proxies.wire import Handler, Server


def page(url):
    """64 to 8,192 bytes that only this URL has."""
    digest = hashlib.sha256(url.encode()).digest()
    return digest.hex().encode() * (1 + digest[0] % 128)


class Origin(Handler):
    def do_GET(self):
        if self.path == "/fetches":
            return self.reply(200, str(self.server.fetches).encode())
        self.server.fetches += 1
        time.sleep(self.server.delay)
        self.reply(200, page(self.path))


def make(delay):
    server = Server(Origin)
    server.delay, server.fetches = delay, 0
    return server
