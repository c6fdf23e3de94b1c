"""The world of a chaos run: every kind of server behind a line that can break, media, and the destinations made of them."""
import hashlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness import FAST_RETRY, TOKEN, make_photo
from service_client import BusinessServiceProcess
from storage import KEY, SECRET, SERVERS, Proxy, Weed, _Child
from test_s3 import PART
from test_sources import FileServer
from test_upload_matrix import form, multipart, put, tus
import s3sig

ACCOUNTS = ("me", "other")
SOURCE_TOKEN = "a-token-in-a-source-url"


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


class TusServer(_Child):
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.launch([sys.executable, SERVERS / "tus_server.py", "--dir", self.folder, "--port", self.port])

    def kill(self):
        self.process.kill()
        self.stop()

    def unfinished(self):
        """Names of the uploads that were neither finished nor taken back."""
        states = {path.stem: json.loads(path.read_text()) for path in self.folder.glob("*.json")}
        return {name for name, state in states.items() if state["offset"] != state["length"]}


class Service:
    """The reference business service, killed and started again with what it had."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.address, self.process = f"127.0.0.1:{self.port}", None
        self.line = Line(self.address)
        self.start()

    def start(self):
        self.process = BusinessServiceProcess(self.folder, TOKEN, ("--port", str(self.port), "--base-url", self.line.url))

    def kill(self):
        self.process.stop(True)

    stop = kill


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


class World:
    """Everything that the engine talks to. - Parameter store: where the engine's store is, for the disk that fills up."""

    def __init__(self, seed, folder, weed):
        self.seed, self.folder, self.weed = seed, folder, weed
        self.tus, self.files = TusServer(folder / "tus"), FileServer()
        self.service, self.office = Service(folder / "service"), PostOffice(self)
        self.lines = {"service": self.service.line, "office": self.office.line, "weed": Line(weed.address),
                      "tus": Line(self.tus.address), "files": Line(f"127.0.0.1:{self.files.port}")}
        self.servers = {"service": self.service, "tus": self.tus, "weed": self.weed}
        self.down = set()
        self.media = Media(folder / "media")
        self.files.serve(self.media.photos[0])

    def stop(self):
        self.calm()
        for one in (*self.lines.values(), self.tus, self.files, self.service, self.office):
            one.stop()

    def kill(self, name):
        if name not in self.down:
            self.servers[name].kill()
            self.down.add(name)

    def start(self, name):
        if name in self.down:
            self.servers[name].start()
            self.down.discard(name)

    def calm(self):
        """Every server is there again, and every line is whole."""
        for name in list(self.down):
            self.start(name)
        for line in self.lines.values():
            line.up()
            line.rules()

    def config(self, **changes):
        headers = {"Authorization": "Bearer ${env:API_TOKEN}"}
        office, service = self.lines["office"].url, self.lines["service"].url
        bucket = {"protocol": "multipart", "endpoint": self.lines["weed"].url, "region": "us-east-1", "bucket": "media",
                  "keyPrefix": "{account}/{kind}/", "pathStyle": True, "accessKeyId": KEY, "secretAccessKey": "${env:S3_SECRET}"}

        def journal(name):
            return {"type": "journal", "path": str(self.folder / f"{name}.jsonl")}

        def asked(url):
            return {"type": "http", "url": url, "headers": headers}
        destinations = {
            "service": {"credential": asked(service + "/uploads"), "delivery": asked(service + "/send/{kind}")},
            "office": {"credential": asked(office + "/uploads"), "delivery": asked(office + "/send/{kind}")},
            "issued": {"credential": asked(office + "/uploads"), "delivery": journal("issued")},
            "bucket": {"credential": {"type": "static", "upload": bucket}, "delivery": journal("bucket")},
            "local": {"storage": {"type": "directory", "path": str(self.folder / "outbox")}, "delivery": journal("local")},
            "app": {"credential": {"type": "frontEnd"}, "delivery": {"type": "frontEnd"}}}
        sections = {
            "uploads": {"slots": 3, "partSize": PART, "stallTimeoutMs": 700, "connectTimeoutMs": 1000},
            "retry": FAST_RETRY, "destinations": destinations,
            "accounts": {name: {"destination": "local"} for name in ("default", *ACCOUNTS)}}
        for name, change in changes.items():
            sections[name] = {**sections.get(name, {}), **change}
        return sections

    def object(self, url):
        """The bytes that are stored at a receipt's URL."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            return Path(unquote(parts.path)).read_bytes()
        path = unquote(parts.path)
        if parts.netloc == self.lines["weed"].address:
            return self.weed.get(path.removeprefix("/media/"))
        if parts.netloc == self.lines["tus"].address:
            return (self.tus.folder / "objects" / path.removeprefix("/objects/")).read_bytes()
        return (self.service.folder / path.lstrip("/")).read_bytes()

    def deliveries(self):
        """What arrived anywhere: `(destination, milliseconds, delivery)`."""
        found = [("service", post["acceptedNs"] // 1_000_000, post["delivery"]) for post in self.service.process.posts()]
        found += [("office", post["at"], post["delivery"]) for post in self.office.posts.values()]
        for name in ("issued", "bucket", "local"):
            path = self.folder / f"{name}.jsonl"
            lines = path.read_text().splitlines() if path.exists() else []
            found += [(name, line["at"], line) for line in map(json.loads, lines)]
        return found


class Media:
    """Sources, made once for all runs; `fresh` gives a copy that shares no export with another."""

    made = None

    def __init__(self, folder):
        folder.mkdir()
        self.folder, self.count = folder, 0
        if Media.made is None:
            Media.made = self.make(Path(__import__("tempfile").mkdtemp(prefix="taskcenter-chaos-media-")))
        self.photos, self.clips, self.sound = Media.made

    @staticmethod
    def make(folder):
        def ffmpeg(name, *options):
            subprocess.run(["ffmpeg", "-v", "error", "-y", *options, str(folder / name)], check=True)
            return folder / name
        photos = [make_photo(folder / f"photo{number}.jpg", 500 + 150 * number, 400, number) for number in range(4)]
        clips = [ffmpeg(f"clip{number}.mp4", "-f", "lavfi", "-i", f"testsrc2=s={size}:d=1,noise=alls=20:allf=t", "-f", "lavfi",
                        "-i", "sine=d=1", "-c:v", codec, "-c:a", "aac")
                 for number, (size, codec) in enumerate((("480x270", "mpeg4"), ("640x360", "libx264")))]
        return photos, clips, ffmpeg("sound.m4a", "-f", "lavfi", "-i", "sine=d=2", "-c:a", "aac")

    def fresh(self, path):
        self.count += 1
        copy = self.folder / f"{self.count}-{path.name}"
        shutil.copyfile(path, copy)
        return copy

    def log(self, size):
        self.count += 1
        path = self.folder / f"{self.count}.log"
        path.write_bytes(os.urandom(size))
        return path
