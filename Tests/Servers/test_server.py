#!/usr/bin/env python3
"""test_server.py - a small HTTP server that does what a test tells it and remembers what it was asked.

It binds 127.0.0.1 at a free port, prints 'ready PORT', and ends when its standard input ends, that is with its test.
Without a rule: PUT stores nothing and answers 201 with the body's MD5 as ETag, anything else answers 200 '{}'.

  POST /_rules   a JSON list replaces the rules; the first that matches and has uses left is taken:
                 {"match": "PUT /x", "times": 1, "status": 403, "headers": {..}, "body": "..",
                  "early": true (answers before it reads the body), "hang": true (reads and never answers),
                  "gzip": true (the body goes out compressed), "trickle": true (a head that never ends, line by line),
                 "repeat": N (the body so many times),
                 "gate": N (answers once N requests that match stand at the gate)}
                 "match" is found in 'METHOD PATH'; "times": 0 is for ever
  GET  /_log     the requests so far: method, path, headers (lower case), size, md5, body (if it is short)
  GET  /_wait?match=..&count=N   answers as soon as N requests whose 'METHOD PATH' holds the text have come
"""
import gzip
import hashlib
import http.server
import json
import socket
import sys
import threading
import time
import urllib.parse

changed = threading.Condition()
rules, log, arrived = [], [], []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def linger(self):
        """Closes as RFC 9112 section 9.6 wants it: a reset, which unread bytes would cause, can overtake the answer."""
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        while self.rfile.read1(1 << 16):
            pass

    def read_body(self, kept=1 << 16):
        """Size, MD5 and at least the first `kept` bytes."""
        left, digest, head = int(self.headers.get("Content-Length") or 0), hashlib.md5(), b""
        size = 0
        while left > 0:
            data = self.rfile.read1(min(left, 1 << 20))
            if not data:
                raise ConnectionError
            digest.update(data)
            if len(head) < kept:
                head += data
            size += len(data)
            left -= len(data)
        return size, digest.hexdigest(), head

    def answer(self, status, headers=None, body=b"", close=False):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def control(self):
        path, _, query = self.path.partition("?")
        fields = {k: v[0] for k, v in urllib.parse.parse_qs(query).items()}
        body = self.read_body(kept=1 << 30)[2]
        if path == "/_rules":
            with changed:
                rules[:] = [dict({"times": 1, "used": 0, "standing": 0}, **rule) for rule in json.loads(body)]
        elif path == "/_wait":
            wanted, count = fields["match"], int(fields.get("count", 1))
            with changed:
                changed.wait_for(lambda: sum(wanted in line for line in arrived) >= count)
        with changed:
            self.answer(200, {"Content-Type": "application/json"}, json.dumps(log).encode())

    def serve(self):
        if self.path.startswith("/_"):
            return self.control()
        line = f"{self.command} {self.path}"
        with changed:
            rule = next((r for r in rules if r.get("match", "") in line and (not r["times"] or r["used"] < r["times"])), None)
            if rule:
                rule["used"] += 1
            arrived.append(line)
            changed.notify_all()
        if rule and rule.get("early"):
            self.answer(rule["status"], rule.get("headers"), rule.get("body", "").encode(), close=True)
            return self.linger()
        size, md5, body = self.read_body()
        with changed:
            log.append({"method": self.command, "path": self.path, "size": size, "md5": md5,
                        "headers": {k.lower(): v for k, v in self.headers.items()},
                        "body": body.decode("utf-8", "replace") if size < 1 << 16 else ""})
            changed.notify_all()
        if rule and rule.get("hang"):
            threading.Event().wait()
        if rule and rule.get("gate"):
            with changed:
                rule["standing"] += 1
                changed.notify_all()
                changed.wait_for(lambda: rule["standing"] >= rule["gate"])
        if rule and rule.get("trickle"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.wfile.write(b"X-More: to come\r\n")
                time.sleep(0.02)
        if rule:
            headers, content = rule.get("headers"), rule.get("body", "").encode() * rule.get("repeat", 1)
            if rule.get("gzip"):
                headers, content = (headers or {}) | {"Content-Encoding": "gzip"}, gzip.compress(content)
            return self.answer(rule.get("status", 200), headers, content)
        if self.command == "PUT":
            return self.answer(201, {"ETag": f'"{md5}"'})
        self.answer(200, {"Content-Type": "application/json"}, b"{}")

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do_PATCH = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", server.server_address[1], flush=True)
    sys.stdin.buffer.read()
