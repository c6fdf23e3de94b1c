"""What a scripted server knows apart from the wire: answers and refusals, the log of requests, the rules for faults.

scripted_http.py tells what the rules mean and puts them into practice.
"""
import json
import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

PHASES = ("started", "receiving", "held", "handled", "finished")
ACTIONS = ("status", "reset_before", "reset_after_store", "stall", "hold", "delay", "throttle")
LOGGED_HEADERS = ("Idempotency-Key", "Content-Type", "Content-Length", "Content-MD5", "User-Agent")


@dataclass
class Answer:
    """What goes back: JSON, or the bytes of a file."""
    status: int = 200
    json: object = None
    file: Path = None
    content_type: str = "application/json"
    headers: dict = field(default_factory=dict)


class Problem(Exception):
    """A refusal, as a problem document (RFC 9457). `code` is the stable name that a client acts on."""

    def __init__(self, status, code, detail, headers=None, **members):
        super().__init__(detail)
        document = {"title": code, "status": status, "code": code, "detail": detail, **members}
        self.answer = Answer(status, document, content_type="application/problem+json", headers=headers or {})


class RequestLog:
    """Every request with the phases it has reached, and a way to wait for them instead of sleeping."""

    def __init__(self, path=None):
        self.entries = []
        self.changed = threading.Condition()
        self.file = open(path, "a", encoding="utf-8") if path else None

    def begin(self, method, path, headers):
        kept = {name: headers[name] for name in LOGGED_HEADERS if headers[name]}
        with self.changed:
            entry = {"seq": len(self.entries) + 1, "method": method, "path": path, "headers": kept,
                     "bodyBytes": 0, "startedMs": now_ms(), "phases": ["started"]}
            self.entries.append(entry)
            self.changed.notify_all()
        return entry

    def reach(self, entry, phase, **members):
        with self.changed:
            entry.update(members)
            if phase not in entry["phases"]:
                entry["phases"].append(phase)
            if phase == "finished" and self.file:
                self.file.write(json.dumps(entry) + "\n")
                self.file.flush()
            self.changed.notify_all()

    def snapshot(self):
        with self.changed:
            return json.loads(json.dumps(self.entries))

    def wait(self, method, path, phase, count, after, timeout):
        def seen():
            return [e for e in self.entries if e["seq"] > after and method in (None, e["method"])
                    and e["path"].startswith(path) and phase in e["phases"]]
        with self.changed:
            enough = self.changed.wait_for(lambda: len(seen()) >= count, timeout)
            return enough, json.loads(json.dumps(seen()))


class Rule:
    def __init__(self, spec):
        self.spec = spec
        self.action = spec.get("action")
        if self.action not in ACTIONS:
            raise Problem(400, "badRule", f"unknown action {self.action!r}; known: {', '.join(ACTIONS)}")
        match = spec.get("match", {})
        self.method, self.path = match.get("method"), match.get("path", "/")
        self.skip, self.times = spec.get("skip", 0), spec.get("times")
        self.gate = threading.Event()

    def is_due(self, method, path):
        """Counts the request; call under the lock of the script."""
        if self.method not in (None, method) or not path.startswith(self.path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


class FaultScript:
    def __init__(self, rules=()):
        self.lock = threading.Lock()
        self.rules = [Rule(spec) for spec in rules]

    def replace(self, specs):
        rules = [Rule(spec) for spec in specs]
        with self.lock:
            old, self.rules = self.rules, rules
        for rule in old:
            rule.gate.set()

    def release(self, name=None):
        with self.lock:
            for rule in self.rules:
                if name in (None, rule.spec.get("name")):
                    rule.gate.set()

    def take(self, method, path):
        with self.lock:
            return next((rule for rule in self.rules if rule.is_due(method, path)), None)


def delay_seconds(spec, path):
    """With `perIndex` the first resource waits longest, so that uploads finish in reverse order."""
    index = re.search(r"/(\d+)-[^/]*$", path)
    factor = max(1, spec["perIndex"] - int(index[1])) if "perIndex" in spec and index else 1
    return spec.get("ms", 0) * factor / 1000


def now_ms():
    return time.time_ns() // 1_000_000
