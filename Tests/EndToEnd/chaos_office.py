"""A business service of the tests' own: every upload protocol, and deliveries once per key; and the line to it."""
import hashlib
import http.server
import json
import socket
import sys
import threading
import time

from test_s3 import PART
from test_upload_matrix import form, multipart, put, tus
import s3sig
from storage import SERVERS, Proxy


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Line(Proxy):
    """A proxy that can be taken away and put back at the same address; what it saw is kept."""

    def __init__(self, address):
        self.target, self.seen, self.is_up = address, [], False
        self.address, self.control = f"127.0.0.1:{free_port()}", "127.0.0.1:0"
        self.up()

    def up(self):
        if not self.is_up:
            self.address, self.control = self.launch([
                sys.executable, SERVERS / "flaky_proxy.py", "--until-eof", "--target", self.target, "--listen", self.address])
            self.url, self.is_up = f"http://{self.address}", True

    def down(self):
        if self.is_up:
            self.seen += self.stats()["log"]
            self.stop()
            self.is_up = False

    def set(self, *rules):
        if self.is_up:
            self.rules(*rules)

    def log(self):
        return self.seen + (self.stats()["log"] if self.is_up else [])

    def bytes_passed(self):
        return self.stats()["body_bytes"] if self.is_up else 0


class PostOffice:
    """Issues credentials for every upload protocol and takes deliveries, once per key, without looking at the objects."""

    def __init__(self, world):
        self.world, self.lock = world, threading.Lock()
        self.begun, self.posts, self.complaints = {}, {}, []
        office = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    answer = office.issue(request) if self.path == "/uploads" else office.accept(request)
                    status = 200
                except OSError:
                    status, answer = 503, {"code": "storage"}
                body = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # The line is cut: what was done is done.

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 64

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.line = Line(self.address)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def issue(self, request):
        return {"uploads": [self.issue_one(request, one) for one in request["resources"]]}

    def issue_one(self, request, resource):
        """The protocol is drawn by what names the resource, so that it is the same each time it is asked for."""
        draw = int(hashlib.sha256(f"{self.world.seed} {request['key']} {resource['index']}".encode()).hexdigest(), 16)
        protocol = ("put", "form", "presigned", "multipart", "tus")[draw % 5]
        key = f"{request['account']}/{request['kind']}/{request['taskId']}/{resource['index']}"
        line, tus_line = self.world.lines["weed"].address, self.world.lines["tus"].address
        issued = {
            "put": lambda: put(line, key, resource["mime"]), "form": lambda: form(line, key, resource["mime"]),
            "multipart": lambda: multipart(line, key, resource["mime"]),
            "presigned": lambda: self.presign(line, key, resource), "tus": lambda: tus(tus_line, key, resource["mime"])}[protocol]()
        return {"index": resource["index"], "protocol": "multipart" if protocol == "presigned" else protocol} | issued

    def presign(self, line, key, resource):
        upload = resource.get("uploadId")
        with self.lock:
            if not upload and self.begun.get(key) in self.world.weed.open_uploads(key).values():
                upload = self.begun[key]
            if not upload:
                body = self.world.weed.request("POST", f"/{key}?uploads=")[2].decode()
                if "<UploadId>" not in body:
                    raise OSError("the storage did not answer")
                upload = self.begun[key] = body.split("<UploadId>")[1].split("<")[0]
        url, session = f"http://{line}/media/{key}", f"uploadId={upload}"
        parts = [{"number": number, "url": s3sig.presign("PUT", f"{url}?partNumber={number}&{session}")}
                 for number in range(1, -(-resource["size"] // PART) + 1)]
        urls = {name: s3sig.presign(method, f"{url}?{session}")
                for name, method in (("listUrl", "GET"), ("completeUrl", "POST"), ("abortUrl", "DELETE"))}
        return {"uploadId": upload, "partSize": PART, "parts": parts, "publicUrl": url, **urls}

    def accept(self, delivery):
        content = {name: value for name, value in delivery.items() if name not in ("attempt", "mode")}
        with self.lock:
            post = self.posts.setdefault(delivery["taskId"], {
                "id": f"office-{len(self.posts)}", "delivery": content, "at": time.time_ns() // 1_000_000})
            if post["delivery"] != content:
                self.complaints.append(f"{delivery['taskId']} was delivered again with another content")
            return {"id": post["id"]}
