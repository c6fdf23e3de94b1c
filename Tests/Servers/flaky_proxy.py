#!/usr/bin/env python3
"""flaky_proxy.py - a TCP proxy on loopback that breaks uploads on purpose.

    flaky_proxy.py --listen 127.0.0.1:9100 --target 127.0.0.1:8333 [--control 127.0.0.1:9101] [--rule RULE ...]

It prints one line 'ready LISTEN CONTROL' when both ports are bound (port 0 picks a free one)
and, with --until-eof, ends when its standard input ends.
Only the Python standard library is used; one process, one thread.

Rules are kept in a list; the first one that still has uses left and whose `match` is found in the
request head is taken, once per HTTP request on the connection (keep-alive is followed as
long as requests carry Content-Length or no body).  A rule is 'key=value,key=value':

  match=TEXT      text that must be in the request line + headers (default: any request)
  times=N         how often the rule may be used (default 1; 0 = for ever)
  skip=N          let the first N matching requests pass
  cut=N           after N body bytes went to the target, close both sides (FIN)
  reset=N         the same with RST
  stall=N         after N body bytes stop reading and writing, keep the sockets open
  eatreply=1      let the whole request through, drop the reply and RST the client
                  (the 'server has it, client does not know' case)
  status=CODE     answer CODE instead of asking the target; the body is read first
  early=CODE      answer CODE at once, before the body is read, then close
  retry_after=S   adds Retry-After to status/early
  location=URL    adds Location to status/early (redirects)
  body=TEXT       reply body of status/early
  delay=S         wait S seconds before the request is forwarded
  rate=BYTES      forward the body at BYTES per second
  corrupt=N       flip one bit of body byte N (0-based)
  refuse=1        close at accept (whole connection, before any request)

Control port (plain HTTP): POST /rules with one rule per line replaces the list; GET /stats answers
JSON: connections, requests, body_bytes (sent on to the target), per-rule uses, log of request heads
(method, path, range/offset headers, body bytes passed, what was done); POST /reset clears the counters.
GET /wait?match=TEXT&passed=N&count=C answers as soon as C requests (1 unless said) whose 'METHOD PATH' holds TEXT have
passed N body bytes (0 unless said) each.
"""
import argparse
import asyncio
import json
import os
import socket
import struct
import sys
import time
from urllib.parse import parse_qsl


class Rule:
    INT = ("times", "skip", "cut", "reset", "stall", "eatreply", "status", "early", "corrupt", "refuse")
    FLOAT = ("delay", "rate", "retry_after")

    def __init__(self, text):
        self.text, self.used = text.strip(), 0
        self.o = {"times": 1, "skip": 0, "match": ""}
        for part in filter(None, self.text.split(",")):
            k, _, v = part.partition("=")
            k = k.strip()
            if k in self.INT:
                self.o[k] = int(v)
            elif k in self.FLOAT:
                self.o[k] = float(v)
            elif k in ("match", "location", "body"):
                self.o[k] = v
            else:
                raise SystemExit(f"flaky_proxy: unknown key {k!r} in rule {text!r}")

    def take(self, head):
        if self.o["match"] not in head:
            return False
        if self.o["skip"] > 0:
            self.o["skip"] -= 1
            return False
        if self.o["times"] and self.used >= self.o["times"]:
            return False
        self.used += 1
        return True

    def __getattr__(self, k):
        return self.o.get(k)


class State:
    def __init__(self, rules):
        self.rules = [Rule(r) for r in rules]
        self.clear()

    def clear(self):
        self.connections = self.requests = self.body_bytes = 0
        self.log = []

    def pick(self, head):
        for r in self.rules:
            if not r.refuse and r.take(head):
                return r
        return None

    def refuse(self):
        return any(r.refuse and r.take("") for r in self.rules)

    def stats(self):
        return {"connections": self.connections, "requests": self.requests, "body_bytes": self.body_bytes,
                "rules": [{"rule": r.text, "used": r.used} for r in self.rules], "log": self.log}


def rst(w):
    s = w.get_extra_info("socket")
    if s is not None:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    w.transport.abort()


def header(head, name):
    for line in head.split("\r\n")[1:]:
        k, _, v = line.partition(":")
        if k.strip().lower() == name:
            return v.strip()
    return None


class Broken(Exception):
    """The rule ended this connection."""


class Conn:
    def __init__(self, st, target, r, w):
        self.st, self.target, self.r, self.w = st, target, r, w
        self.tr = self.tw = None

    async def open_target(self):
        if self.tw is None or self.tw.is_closing():
            self.tr, self.tw = await asyncio.open_connection(*self.target, limit=1 << 20)

    def close(self, hard=False):
        for w in (self.w, self.tw):
            if w is not None:
                rst(w) if hard else w.close()

    async def body(self, n, rule, entry, sink):
        """Moves n body bytes (n None: chunked, passed as it comes) to sink, applying the rule."""
        stop = next((k for k in ("cut", "reset", "stall") if rule and getattr(rule, k) is not None), None)
        at = getattr(rule, stop) if stop else None
        sent, t0 = 0, time.monotonic()
        while n is None or sent < n:
            want = 256 << 10
            if n is not None:
                want = min(want, n - sent)
            if at is not None:
                if sent >= at:
                    break
                want = min(want, at - sent)
            if rule and rule.rate:
                want = min(want, max(1024, int(rule.rate / 20)))
            data = await self.r.read(want)
            if not data:
                entry["client_gone"] = True
                self.close()
                raise Broken
            if rule and rule.corrupt is not None and sent <= rule.corrupt < sent + len(data):
                b = bytearray(data)
                b[rule.corrupt - sent] ^= 1
                data = bytes(b)
            if sink is not None:
                sink.write(data)
                await sink.drain()
                self.st.body_bytes += len(data)
            sent += len(data)
            entry["passed"] = sent
            if n is None and data.endswith(b"0\r\n\r\n"):
                break
            if rule and rule.rate:
                await asyncio.sleep(max(0, sent / rule.rate - (time.monotonic() - t0)))
        if stop and sent >= at:
            entry["did"] = stop
            if stop == "stall":
                await asyncio.sleep(86400)
            self.close(hard=stop == "reset")
            raise Broken

    async def own_answer(self, rule, code, close):
        extra = ""
        if rule.retry_after is not None:
            extra += f"Retry-After: {rule.retry_after:g}\r\n"
        if rule.location:
            extra += f"Location: {rule.location}\r\n"
        b = (rule.body or "").encode()
        self.w.write(f"HTTP/1.1 {code} Injected\r\n{extra}Content-Length: {len(b)}\r\n{'Connection: close' + chr(13) + chr(10) if close else ''}\r\n".encode() + b)
        await self.w.drain()

    async def reply(self, method, forward):
        """Relays one reply; True while the connection can be kept."""
        while True:
            head = await self.tr.readuntil(b"\r\n\r\n")
            code = int(head.split(b" ", 2)[1])
            if forward:
                self.w.write(head)
                await self.w.drain()
            if code >= 200 or code == 101:
                break
        h = head.decode("latin-1")
        n = header(h, "content-length")
        chunked = "chunked" in (header(h, "transfer-encoding") or "").lower()
        if method == "HEAD" or code in (204, 304):
            n, chunked = "0", False
        left = int(n) if n is not None else None
        while chunked or left is None or left > 0:
            data = await self.tr.read(min(256 << 10, left) if left is not None else 256 << 10)
            if not data:
                return code, False
            if forward:
                self.w.write(data)
                await self.w.drain()
            if left is not None:
                left -= len(data)
            if chunked and data.endswith(b"0\r\n\r\n"):
                break
        return code, (header(h, "connection") or "").lower() != "close"

    async def one(self):
        raw = await self.r.readuntil(b"\r\n\r\n")
        head = raw.decode("latin-1")
        method, path, _ = head.split("\r\n", 1)[0].split(" ", 2)
        rule = self.st.pick(head)
        self.st.requests += 1
        entry = {"method": method, "path": path, "rule": rule.text if rule else None, "passed": 0}
        for k in ("upload-offset", "content-range", "content-length"):
            v = header(head, k)
            if v is not None:
                entry[k] = v
        self.st.log.append(entry)
        n = header(head, "content-length")
        n = int(n) if n is not None else None
        chunked = "chunked" in (header(head, "transfer-encoding") or "").lower()
        expects = "100-continue" in (header(head, "expect") or "").lower()
        if rule and rule.delay:
            await asyncio.sleep(rule.delay)
        if rule and rule.early:
            entry["did"] = f"early {rule.early}"
            await self.own_answer(rule, rule.early, True)
            await asyncio.sleep(0.2)
            self.close()
            raise Broken
        if rule and rule.status:
            entry["did"] = f"status {rule.status}"
            if expects:
                self.w.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            if n or chunked:
                await self.body(None if chunked else n, None, entry, None)
            entry["passed"] = 0
            await self.own_answer(rule, rule.status, False)
            return
        await self.open_target()
        self.tw.write(raw)
        await self.tw.drain()
        eat = bool(rule and rule.eatreply)
        answer = asyncio.ensure_future(self.reply(method, not eat))
        try:
            if n or chunked:
                move = asyncio.ensure_future(self.body(None if chunked else n, rule, entry, self.tw))
                await asyncio.wait({move, answer}, return_when=asyncio.FIRST_COMPLETED)
                if not move.done():  # an early final reply of the target: let the rest of the body drain
                    try:
                        await asyncio.wait_for(move, 5)
                    except asyncio.TimeoutError:
                        self.close()
                        raise Broken
                move.result()
            code, keep = await answer
        except BaseException:
            answer.cancel()
            raise
        entry["status"] = code
        if eat:
            entry["did"] = "eatreply"
            self.close(hard=True)
            raise Broken
        if not keep:
            self.close()
            raise Broken

    async def run(self):
        try:
            while True:
                await self.one()
        except (Broken, asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError, OSError):
            self.close()


async def main(a):
    host = lambda s: (s.rsplit(":", 1)[0], int(s.rsplit(":", 1)[1]))
    st, target = State(a.rule), host(a.target)

    async def data(r, w):
        st.connections += 1
        if st.refuse():
            rst(w)
            return
        await Conn(st, target, r, w).run()

    async def control(r, w):
        try:
            head = (await r.readuntil(b"\r\n\r\n")).decode("latin-1")
            n = int(header(head, "content-length") or 0)
            text = (await r.readexactly(n)).decode() if n else ""
            method, path, _ = head.split(" ", 2)
            code, out = 200, b"{}"
            try:
                if path == "/rules" and method == "POST":
                    st.rules = [Rule(x) for x in text.splitlines() if x.strip()]
                elif path == "/reset" and method == "POST":
                    st.clear()
                elif path.startswith("/wait?"):
                    fields = dict(parse_qsl(path[6:]))
                    while sum(fields["match"] in f"{e['method']} {e['path']}" and e["passed"] >= int(fields.get("passed", 0))
                              for e in st.log) < int(fields.get("count", 1)):
                        await asyncio.sleep(0.01)
                elif path == "/stats":
                    out = json.dumps(st.stats()).encode()
                else:
                    code = 404
            except (SystemExit, ValueError) as e:
                code, out = 400, json.dumps({"error": str(e)}).encode()
            w.write(f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {len(out)}\r\nConnection: close\r\n\r\n".encode() + out)
            await w.drain()
        finally:
            w.close()

    srv = await asyncio.start_server(data, *host(a.listen), limit=1 << 20)
    ctl = await asyncio.start_server(control, *host(a.control))
    name = lambda s: "%s:%d" % s.sockets[0].getsockname()[:2]
    print("ready", name(srv), name(ctl), flush=True)
    if a.until_eof:
        # Left to the system: a graceful end would wait for connections that stall on purpose.
        asyncio.get_running_loop().run_in_executor(None, lambda: (sys.stdin.buffer.read(), os._exit(0)))
    await asyncio.gather(srv.serve_forever(), ctl.serve_forever())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--listen", default="127.0.0.1:0")
    p.add_argument("--target", required=True)
    p.add_argument("--control", default="127.0.0.1:0")
    p.add_argument("--until-eof", action="store_true")
    p.add_argument("--rule", action="append", default=[])
    try:
        asyncio.run(main(p.parse_args()))
    except KeyboardInterrupt:
        pass
