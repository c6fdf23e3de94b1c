#!/usr/bin/env python3
"""tus_server.py - a strict tus 1.0.0 server for tests, standard library only, that also misbehaves on order.

As with tusd, one request at a time holds an upload, others are answered 423. It has creation, creation-with-upload, checksum (460), expiration and termination. What a broken PATCH has brought is kept
in steps of `commit` bytes, unless it had a checksum: then it is all or nothing, as the specification asks. Finished files
are read at /objects/FILENAME (of Upload-Metadata); state and files survive a kill in --dir.

Prints 'ready PORT' and ends when its standard input ends, or at a kill with --linger.

POST /_set with JSON changes what it does, GET /_log answers the requests so far: [{method, path, status, offset, bytes}].

  extensions      what OPTIONS announces; "" refuses OPTIONS with 405
  commit          step of what is kept of a broken PATCH, in bytes
  patient         a request for an upload that another one holds waits, in place of the 423
  lock            so many HEAD and PATCH are answered 423
  mismatch        so many PATCH are answered 460
  gone            404 or 410: every upload is forgotten from now on (new ones are not)
  forgetFinished  HEAD of a finished upload is 404, as with SeaweedFS
  sayOffset       HEAD says this offset, once
  loseEnd         the last PATCH is done and answered with this status, once
  deleteStatus    DELETE is answered with this status, once
"""
import argparse
import base64
import hashlib
import json
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

ALGORITHMS = {"md5": hashlib.md5, "sha1": hashlib.sha1, "sha256": hashlib.sha256}
SETTINGS = {"extensions": "creation,creation-with-upload,checksum,expiration,termination", "commit": 1, "patient": False, "lock": 0,
            "mismatch": 0, "gone": 0, "forgetFinished": False, "sayOffset": None, "loseEnd": 0, "deleteStatus": 0}
GUARD = threading.Lock()
LOCKS = {}
LOG = []


class Refusal(Exception):
    def __init__(self, status, **headers):
        super().__init__(status)
        self.status, self.headers = status, headers


class Uploads:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "objects").mkdir(exist_ok=True)

    def data(self, name):
        return self.folder / f"{name}.bin"

    def save(self, name, state):
        path = self.folder / f"{name}.json"
        path.with_suffix(".tmp").write_text(json.dumps(state))
        path.with_suffix(".tmp").replace(path)

    def load(self, name):
        path = self.folder / f"{name}.json"
        if not path.exists():
            raise Refusal(404)
        state = json.loads(path.read_text())
        if state.get("gone"):
            raise Refusal(state["gone"])
        if state["expires"] < time.time() and state["offset"] != state["length"]:
            raise Refusal(410)
        return state

    def forget_all(self, status):
        for path in self.folder.glob("*.json"):
            state = json.loads(path.read_text())
            self.save(path.stem, state | {"gone": status})

    def publish(self, name, state):
        """Whole or not at all, and before the upload is said to be whole."""
        beside = self.folder / f"{name}.part"
        beside.write_bytes(self.data(name).read_bytes())
        beside.replace(self.folder / "objects" / state["filename"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    uploads = None
    expire = 86_400

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.entry["status"] = status
        self.send_response(status)
        self.send_header("Tus-Resumable", "1.0.0")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def pieces(self):
        left = int(self.headers.get("Content-Length") or 0)
        # A body that is silent for so long holds no lock any more; a connection that is kept may be.
        self.connection.settimeout(3 if left else None)
        while left:
            piece = self.rfile.read1(min(left, 256 << 10))
            if not piece:
                raise ConnectionError
            left -= len(piece)
            self.entry["bytes"] += len(piece)
            yield piece
        self.connection.settimeout(None)

    def number(self, name):
        text = self.headers.get(name)
        if text is None or not re.fullmatch(r"\d+", text):
            raise Refusal(400)
        return int(text)

    def take(self, setting):
        """Whether one of a number of misdeeds is due."""
        with GUARD:
            if SETTINGS[setting]:
                SETTINGS[setting] -= 1
                return True
        return False

    def once(self, setting, nothing):
        with GUARD:
            value, SETTINGS[setting] = SETTINGS[setting], nothing
        return value

    # The protocol

    def handle_tus(self):
        if self.command == "OPTIONS":
            if not SETTINGS["extensions"]:
                raise Refusal(405)
            return self.answer(204, Tus_Version="1.0.0", Tus_Extension=SETTINGS["extensions"], Tus_Max_Size=8 << 30,
                               Tus_Checksum_Algorithm=",".join(ALGORITHMS))
        if self.path.startswith("/objects/"):
            path = self.uploads.folder / "objects" / unquote(self.path.removeprefix("/objects/"))
            if not path.exists():
                raise Refusal(404)
            return self.answer(200, path.read_bytes())
        if self.headers.get("Tus-Resumable") != "1.0.0":
            raise Refusal(412, Tus_Version="1.0.0")
        if self.command == "POST" and self.path == "/files":
            return self.create()
        name = self.path.removeprefix("/files/")
        if not re.fullmatch(r"[0-9a-f]{32}", name):
            raise Refusal(404)
        with GUARD:
            lock = LOCKS.setdefault(name, threading.Lock())
        if not lock.acquire(blocking=SETTINGS["patient"]):
            raise Refusal(423)
        try:
            {"HEAD": self.head, "DELETE": self.delete}.get(self.command, self.patch)(name)
        finally:
            lock.release()

    def create(self):
        length = self.number("Upload-Length")
        fields = (pair.split(" ") for pair in (self.headers.get("Upload-Metadata") or "").split(",") if pair)
        metadata = {field[0]: base64.b64decode(field[1]).decode() if len(field) > 1 else "" for field in fields}
        if not metadata.get("filename") or not metadata.get("filetype"):
            raise Refusal(400)
        name = uuid.uuid4().hex
        state = {"offset": 0, "length": length, "filename": metadata["filename"], "expires": time.time() + self.expire}
        self.uploads.data(name).write_bytes(b"")
        self.uploads.save(name, state)
        more = {}
        if self.headers.get("Content-Type") == "application/offset+octet-stream":
            self.append(name, state)
            more = {"Upload_Offset": state["offset"]}
        elif not length:
            self.uploads.publish(name, state)
        self.answer(201, Location=f"/files/{name}", **more)

    def head(self, name):
        if self.take("lock"):
            raise Refusal(423)
        state = self.uploads.load(name)
        if SETTINGS["forgetFinished"] and state["offset"] == state["length"]:
            raise Refusal(404)
        said = self.once("sayOffset", None)
        self.answer(200, Upload_Offset=state["offset"] if said is None else said, Upload_Length=state["length"],
                    Cache_Control="no-store")

    def patch(self, name):
        if self.command != "PATCH":
            raise Refusal(405)
        if self.take("lock"):
            raise Refusal(423)
        state = self.uploads.load(name)
        if self.headers.get("Content-Type") != "application/offset+octet-stream":
            raise Refusal(415)
        if self.number("Upload-Offset") != state["offset"]:
            raise Refusal(409)
        self.append(name, state)
        if state["offset"] == state["length"]:
            status = self.once("loseEnd", 0)
            if status:
                raise Refusal(status)
        self.answer(204, Upload_Offset=state["offset"])

    def append(self, name, state):
        checksum, digest = self.headers.get("Upload-Checksum"), None
        if checksum:
            algorithm, _, wanted = checksum.partition(" ")
            if algorithm not in ALGORITHMS:
                raise Refusal(400)
            digest = ALGORITHMS[algorithm]()
        start = position = state["offset"]
        with open(self.uploads.data(name), "r+b") as file:
            file.truncate(start)
            file.seek(start)
            try:
                for piece in self.pieces():
                    if position + len(piece) > state["length"]:
                        raise Refusal(413)
                    file.write(piece)
                    position += len(piece)
                    if digest:
                        digest.update(piece)
            except (ConnectionError, OSError):
                step = SETTINGS["commit"]
                position = start if digest else start + (position - start) // step * step
                file.truncate(position)
                state["offset"] = position
                self.uploads.save(name, state)
                raise
            if self.take("mismatch") or digest and base64.b64encode(digest.digest()).decode() != wanted:
                file.truncate(start)
                raise Refusal(460)
        state["offset"] = position
        if position == state["length"]:
            self.uploads.publish(name, state)
        self.uploads.save(name, state)

    def delete(self, name):
        status = self.once("deleteStatus", 0)
        if status:
            raise Refusal(status)
        self.uploads.load(name)
        (self.uploads.folder / f"{name}.json").unlink()
        self.uploads.data(name).unlink()
        self.answer(204)

    def control(self):
        if self.path == "/_log":
            return self.answer(200, json.dumps(LOG).encode())
        values = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if values.get("gone"):
            self.uploads.forget_all(values.pop("gone"))
        SETTINGS.update(values)
        return self.answer(200)

    def serve(self):
        self.entry = {"method": self.command, "path": self.path, "status": 0, "bytes": 0,
                      "offset": self.headers.get("Upload-Offset"), "checksum": self.headers.get("Upload-Checksum"),
                      "authorization": self.headers.get("Authorization")}
        if self.path.startswith("/_"):
            return self.control()
        if not self.path.startswith("/objects/"):
            LOG.append(self.entry)
        try:
            self.handle_tus()
        except Refusal as refusal:
            self.close_connection = True  # A body that was not read may still come.
            self.answer(refusal.status, b"", Connection="close", **refusal.headers)
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = do_OPTIONS = serve


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # A client that goes away is what the tests are about.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--expire", type=float, default=86_400, help="seconds until an unfinished upload is gone")
    parser.add_argument("--linger", action="store_true", help="do not end with standard input")
    arguments = parser.parse_args()
    Handler.uploads, Handler.expire = Uploads(arguments.dir), arguments.expire
    server = Server(("127.0.0.1", arguments.port), Handler)
    print(f"ready {server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if arguments.linger:
        threading.Event().wait()
    sys.stdin.read()


main()
