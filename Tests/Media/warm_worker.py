"""taskcenter-export as the engine uses it: one process, many orders, killed to cancel."""
import json
import os
import signal
import socket
import subprocess

MEMORY = 1 << 30


class Died(Exception):
    """The process is gone; `status` is what it left: an exit status, or the negative signal."""

    def __init__(self, status):
        super().__init__(f"the worker ended with {status}")
        self.status = status


class Hung(Exception):
    """No final report in time; the process has been killed."""


class WarmWorker:
    def __init__(self, program, folder, *arguments, memory=MEMORY):
        self.folder = str(folder)
        ours, theirs = socket.socketpair()
        command = [program, "--folder", self.folder, "--memory-limit", str(memory), *arguments]
        self.process = subprocess.Popen(command, stdin=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        self.socket = ours
        self.lines = b""
        self.last_id = 0

    def output(self):
        """Where the result of the last order lies."""
        return os.path.join(self.folder, f"{self.process.pid}-{self.last_id}.part")

    def send(self, job, name, source=None):
        """- Parameter source: a path; its descriptor travels beside the order."""
        self.last_id += 1
        order = {"id": self.last_id, "name": name, "output": self.output(), **job}
        line = json.dumps(order).encode() + b"\n"
        if source is None:
            return self.socket.sendall(line)
        with open(source, "rb") as file:
            socket.send_fds(self.socket, [line], [file.fileno()])

    def report(self, seconds):
        """The next report of any kind."""
        self.socket.settimeout(seconds)
        while b"\n" not in self.lines:
            try:
                more = self.socket.recv(1 << 16)
            except TimeoutError:
                self.kill()
                raise Hung() from None
            except ConnectionError:
                more = b""
            if not more:
                raise Died(self.process.wait())
            self.lines += more
        line, self.lines = self.lines.split(b"\n", 1)
        return json.loads(line)

    def final(self, seconds):
        while (report := self.report(seconds))["report"] == "progress":
            pass
        return report

    def run(self, job, name, source=None, seconds=30):
        self.send(job, name, source)
        return self.final(seconds)

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        return self.process.wait()

    def close(self):
        """As the engine does it: the end of the socket is the end of the worker."""
        self.socket.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            return self.kill()


def image(long_edge=512, **fields):
    return {"job": "image", "longEdge": long_edge, "quality": 82, "cropSquare": False, "format": "jpeg", **fields}


def box(remux="ifClean"):
    return {"job": "video", "crf": 23, "goal": {"type": "box", "longSide": 320, "shortSide": 180, "maximumRate": 400_000,
                                                "remux": remux}}


def ladder(limit, hard_limit):
    return {"job": "video", "crf": 23, "goal": {"type": "ladder", "limit": limit, "hardLimit": hard_limit}}


POSTER = {"job": "poster", "longEdge": 320, "quality": 82}
THUMBNAIL = {"job": "thumbnail", "edge": 96, "quality": 82}
AUDIO = {"job": "audio"}
PROBE = {"job": "probe"}


def plan(job):
    return {**job, "plansOnly": True}
