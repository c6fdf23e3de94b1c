"""An HTTP server that can be told to misbehave, and that remembers what it saw: the ground of business_service.py.

Nothing here is part of the contract of a business service. A test talks to it over four doors of its own:

  POST /faults   {"rules": [RULE, ...]}  replaces all rules; whoever the old ones held goes on
  POST /release  {"name": NAME}          lets go who is held by the rules of that name; {} lets go everyone
  GET  /log                              the requests so far, oldest first
  GET  /wait?method=PUT&path=/objects&count=2&phase=started&after=0&timeoutMs=30000
                                         answers as soon as that many requests have reached the phase, or 504

A RULE is {"action": ACTION, "match": {"method": M, "path": PREFIX}, "skip": n, "times": n, "name": NAME, ...}. It
leaves the first `skip` matching requests alone and then acts on `times` of them (all, unless given). One rule acts on a
request: the first that is due.

  ACTION             further fields                         what happens
  status             status, code, retryAfter, body, early  that answer; with `early` before the body is read
  reset_before                                              the connection is reset before the body is read
  reset_after_store                                         the work is done and durable, then reset: the lost reply
  stall              bytes                                  reads that much of the body, then nothing until /release
  hold               at: "start" or "answer"                nothing until /release, before or after the work
  delay              ms, perIndex                           waits; with `perIndex` longer for lower indices in the path
  throttle           bytesPerSecond                         reads the body no faster than that

The phases of a request: `started` (its head is here), `receiving` (the first byte of its body), `held` (by a stall or
hold), `handled` (the work is done, nothing answered yet), `finished` (answered, reset or gone).
"""
import errno
import json
import socket
import struct
import sys
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from request_script import PHASES, Answer, FaultScript, Problem, RequestLog, delay_seconds, now_ms

MAX_JSON = 16 << 20


class ClientGone(Exception):
    """The client cut the connection before its body was complete."""


class Reset(Exception):
    """A rule wants the connection reset."""


class Body:
    """The request's body, read as fast as the rule allows and counted."""

    def __init__(self, handler, rule):
        self.handler, self.rule = handler, rule
        text = handler.headers.get("Content-Length")
        self.length = int(text) if text and text.isascii() and text.isdigit() else None
        self.left = self.length or 0
        self.stall_at = None
        if rule and rule.action == "stall":
            self.stall_at = max(0, min(rule.spec.get("bytes", 0), self.left - 1))

    def read(self, limit=1 << 18):
        """- Raises ClientGone where the connection ends early. Empty bytes: that was all."""
        if self.left == 0:
            return b""
        done = self.length - self.left
        if self.stall_at is not None and done >= self.stall_at:
            self.stall_at = None
            self.handler.hold()
        size = min(limit, self.left)
        if self.stall_at is not None:
            size = min(size, self.stall_at - done)
        rate = self.rule.spec["bytesPerSecond"] if self.rule and self.rule.action == "throttle" else None
        if rate:
            size = max(1, min(size, rate // 20))
            time.sleep(size / rate)
        try:
            chunk = self.handler.rfile.read1(size)
        except OSError as error:
            raise ClientGone() from error
        if not chunk:
            raise ClientGone()
        self.left -= len(chunk)
        self.handler.reach("receiving", bodyBytes=self.length - self.left)
        return chunk

    def json(self):
        """- Raises Problem where the body is not a JSON object of at most 16 MiB."""
        if self.length is None:
            raise Problem(411, "lengthRequired", "the request needs a Content-Length")
        if self.length > MAX_JSON:
            raise Problem(413, "tooLarge", "the request body is larger than 16 MiB")
        try:
            value = json.loads(b"".join(iter(self.read, b"")))
        except ValueError as error:
            raise Problem(400, "badRequest", f"the body is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise Problem(400, "badRequest", "the body is not a JSON object")
        self.handler.reach("receiving", json=value)
        return value


class ScriptedHandler(BaseHTTPRequestHandler):
    """A subclass answers `respond()`; logging, faults and the doors for tests are here."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def respond(self, method, path, query):
        """- Returns an Answer, or raises Problem."""
        raise NotImplementedError

    def do_any(self):
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        door = {"POST /faults": self.door_faults, "POST /release": self.door_release, "GET /log": self.door_log,
                "GET /wait": self.door_wait}.get(f"{self.command} {url.path}")
        self.rule, self.entry = None, {}
        if door:
            self.body = Body(self, None)
            self.send(self.guarded(door, query))
            return
        self.entry = self.server.log.begin(self.command, url.path, self.headers)
        self.rule = self.server.script.take(self.command, url.path)
        self.body = Body(self, self.rule)
        status, outcome = None, "answered"
        try:
            answer = self.before(url.path) or self.guarded(self.respond, self.command, url.path, query)
            self.after()
            status = answer.status
            self.send(answer)
        except Reset:
            status, outcome = None, "reset"
            self.reset()
        except (ClientGone, OSError):
            status, outcome = None, "clientGone"
            self.close_connection = True
        self.reach("finished", status=status, outcome=outcome, finishedMs=now_ms())

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_any

    def guarded(self, work, *arguments):
        """Whatever goes wrong on this side is answered too: silence would look like a lost connection."""
        try:
            return work(*arguments)
        except Problem as problem:
            return problem.answer
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            return Problem(507 if is_full else 500, "storage", f"the storage failed: {error.strerror}").answer
        except (ValueError, TypeError, KeyError):
            traceback.print_exc()
            return Problem(500, "internal", "the service has a defect; its standard error tells more").answer

    # What the rule does before and after the work.

    def before(self, path):
        action = self.rule.action if self.rule else None
        if action == "reset_before":
            raise Reset()
        if action == "delay":
            time.sleep(delay_seconds(self.rule.spec, path))
        if action == "hold" and self.rule.spec.get("at", "start") == "start":
            self.hold()
        if action == "status":
            return self.scripted_status()
        return None

    def after(self):
        self.reach("handled")
        if self.rule and self.rule.action == "reset_after_store":
            raise Reset()
        if self.rule and self.rule.action == "hold" and self.rule.spec.get("at") == "answer":
            self.hold()

    def scripted_status(self):
        spec = self.rule.spec
        if not spec.get("early"):
            while self.body.read():
                pass
        headers = {"Retry-After": str(spec["retryAfter"])} if "retryAfter" in spec else {}
        if "body" in spec:
            return Answer(spec["status"], spec["body"], headers=headers)
        return Problem(spec["status"], spec.get("code", "scripted"), "the test wanted this answer", headers).answer

    def hold(self):
        self.reach("held")
        self.rule.gate.wait()

    def reach(self, phase, **members):
        if self.entry:
            self.server.log.reach(self.entry, phase, **members)

    # The doors for tests.

    def door_faults(self, query):
        self.server.script.replace(self.body.json().get("rules", []))
        return Answer(200, {})

    def door_release(self, query):
        self.server.script.release(self.body.json().get("name") if self.body.length else None)
        return Answer(200, {})

    def door_log(self, query):
        return Answer(200, {"requests": self.server.log.snapshot()})

    def door_wait(self, query):
        phase = query.get("phase", "finished")
        if phase not in PHASES:
            raise Problem(400, "badRequest", f"unknown phase {phase!r}; known: {', '.join(PHASES)}")
        enough, requests = self.server.log.wait(
            query.get("method"), query.get("path", "/"), phase, int(query.get("count", 1)), int(query.get("after", 0)),
            int(query.get("timeoutMs", 30_000)) / 1000)
        if not enough:
            raise Problem(504, "timeout", f"only {len(requests)} such requests were seen in time")
        return Answer(200, {"count": len(requests), "requests": requests})

    # The wire.

    def send(self, answer):
        content = answer.file.open("rb") if answer.file else json.dumps(answer.json).encode()
        length = answer.file.stat().st_size if answer.file else len(content)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(length))
        has_unread_body = self.body.left > 0 or "Transfer-Encoding" in self.headers
        if has_unread_body:
            self.send_header("Connection", "close")
        self.end_headers()
        if answer.file:
            with content:
                if self.command != "HEAD":
                    self.connection.sendfile(content)
        elif self.command != "HEAD":
            self.wfile.write(content)
        if has_unread_body:
            self.linger()

    def linger(self):
        """Closing with unread input would reset the connection, and the client might lose the answer."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(2)
        while self.rfile.read1(1 << 18):
            pass

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())

    def log_message(self, format, *arguments):
        pass


class ScriptedServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, handler, rules=(), log_path=None):
        self.log, self.script = RequestLog(log_path), FaultScript(rules)
        super().__init__(("127.0.0.1", port), handler)

    def handle_error(self, request, client_address):
        """A client that went away is in the log already; anything else is a defect of the server and is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)
