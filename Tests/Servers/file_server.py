#!/usr/bin/env python3
"""file_server.py - serves one file over HTTP the ways that servers do, for tests of downloads.

Prints 'ready PORT' and ends when its standard input ends. POST /_set with JSON {name: value} changes what it does, GET
/_log answers the requests so far: [{path, range, ifRange, status, sent}].

  text        what the file holds; `repeat` times
  etag        its entity tag, with quotes; "" for none
  ranges      false: Range is ignored
  ifRange     false: If-Range is ignored (the part is sent whatever version was asked for)
  cut         close the connection after so many bytes of the body, once
  status      answer with this status and no file
  location    with a redirect's status
  length      false: no Content-Length, the connection's end is the file's
"""
import json
import re
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SETTINGS = {"text": "abcdefghij", "repeat": 1, "etag": '"one"', "ranges": True, "ifRange": True, "cut": 0, "status": 200,
            "location": "", "length": True}
LOG = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if SETTINGS["length"] or self.path.startswith("/_"):
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        cut = SETTINGS["cut"] if status in (200, 206) and not self.path.startswith("/_") else 0
        if cut:
            SETTINGS["cut"] = 0
            body = body[:cut]
        self.wfile.write(body)
        if cut:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        return len(body)

    def do_POST(self):
        SETTINGS.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(200, b"")

    def do_GET(self):
        if self.path == "/_log":
            self.answer(200, json.dumps(LOG).encode())
            return
        body, asked, tag = SETTINGS["text"].encode("latin-1") * SETTINGS["repeat"], self.headers["Range"], self.headers["If-Range"]
        status, headers = SETTINGS["status"], []
        entry = {"path": self.path, "range": asked or "", "ifRange": tag or ""}
        if status != 200:
            body = b"no"
            if SETTINGS["location"]:
                headers.append(("Location", SETTINGS["location"]))
                SETTINGS["status"], SETTINGS["location"] = 200, ""
        else:
            if SETTINGS["etag"]:
                headers.append(("ETag", SETTINGS["etag"]))
            match = re.fullmatch(r"bytes=(\d+)-", asked or "")
            if match and SETTINGS["ranges"] and (not SETTINGS["ifRange"] or tag == SETTINGS["etag"]):
                first = int(match[1])
                if first >= len(body):
                    status, headers, body = 416, [("Content-Range", f"bytes */{len(body)}")], b""
                else:
                    headers.append(("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}"))
                    status, body = 206, body[first:]
        LOG.append(entry | {"status": status})
        entry["sent"] = LOG[-1]["sent"] = self.answer(status, body, headers)


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # A client that goes away is what the tests are about.


server = Server(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(f"ready {server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
