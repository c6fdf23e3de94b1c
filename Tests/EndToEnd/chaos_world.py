"""The world of a chaos run: every kind of server behind a line that can break, media, and the destinations made of them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness import FAST_RETRY, TOKEN, make_photo
from service_client import BusinessServiceProcess
from storage import KEY, SERVERS, _Child
from chaos_office import Line, PostOffice, free_port
from test_s3 import PART
from test_sources import FileServer

ACCOUNTS = ("me", "other")
SOURCE_TOKEN = "a-token-in-a-source-url"


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


class World:
    """Everything that the engine talks to. - Parameter weed: a running SeaweedFS, shared by the runs of a class."""

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
            Media.made = self.make(Path(tempfile.mkdtemp(prefix="taskcenter-chaos-media-")))
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
