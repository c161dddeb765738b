"""HTTP as small as the example needs it, with every byte counted: HTTP/1.0, a connection for each exchange."""

import dataclasses
import http.server
import socket


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict
    body: bytes
    size: int  # in bytes, of request and reply, heads and bodies; without what TCP and IP add


def exchange(port, method, target, options=None, body=b""):
    """Sends a request to a port of this machine. The target is a whole URL, as proxies are sent it, or a path."""
    lines = [f"{method} {target} HTTP/1.0", *(f"{name}: {value}" for name, value in (options or {}).items())]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    request = "\r\n".join([*lines, "", ""]).encode() + body
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    return Reply(int(status.split()[1]), headers, content, len(request) + len(answer))


class Server(http.server.ThreadingHTTPServer):
    """On a port that the system chooses. It listens once it is made: requests wait until it serves them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)


class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, status, body=b"", **headers):
        # Without the usual lines on date and software, which would be most of a short answer.
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def log_message(self, *_):
        pass
