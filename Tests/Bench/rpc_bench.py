#!/usr/bin/env python3
"""How fast a JSON-RPC server on stdio is, one message per line. Its parts serve bench.py; alone it measures one server:

  start   spawn → first answer
  rtt     round trips, one in flight
  pipe    requests per second with so many in flight
  rss     resident memory when idle, and after the load
  stall   what happens to a client that writes and does not read: requests taken, memory, answers afterwards

  rpc_bench.py --method engine/status -- .build/release/taskcenterd --store {tmp}
  rpc_bench.py --method get_all_account_ids --env DC_ACCOUNTS_PATH={tmp}/a -- deltachat-rpc-server

{tmp} is an empty folder, new for each process.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import machine


class Server:
    """What to start: command and environment, in which {tmp} stands for the folder given at each start."""

    def __init__(self, command, method, environment=None):
        self.command, self.method, self.environment = command, method, environment or {}

    def start(self, folder):
        def placed(text):
            return str(text).replace("{tmp}", str(folder))
        environment = {name: placed(text) for name, text in self.environment.items()}
        return Session([placed(word) for word in self.command], self.method, os.environ | environment)


class Session:
    def __init__(self, command, method, environment):
        self.method = method
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment, bufsize=0)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def request(self, number, params=None):
        message = {"jsonrpc": "2.0", "id": number, "method": self.method}
        if params is not None:
            message["params"] = params
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.input, view):]

    def answers(self):
        """Whatever one read brings, without notifications."""
        chunk = os.read(self.output, 1 << 20)
        if not chunk:
            raise EOFError(f"{self.process.args[0]} ended with status {self.process.wait(10)}")
        *lines, self.buffer = (self.buffer + chunk).split(b"\n")
        messages = [json.loads(line) for line in lines if line.strip()]
        return [message for message in messages if message.get("id") is not None and "method" not in message]

    def call(self, number=1):
        self.write(self.request(number))
        while True:
            for answer in self.answers():
                if "error" in answer:
                    raise RuntimeError(f"{self.method} answers an error: {answer['error']}")
                return answer

    def milliseconds_to_first_answer(self):
        self.call()
        return (time.perf_counter() - self.started) * 1e3

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


def round_trips(session, count):
    """- Returns microseconds, one for each call."""
    times = []
    for number in range(count):
        begin = time.perf_counter()
        session.call(number)
        times.append((time.perf_counter() - begin) * 1e6)
    return times


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


def pipelined(session, count, window, chunk=100):
    """- Returns requests per second and CPU microseconds of the server for each."""
    requests = [session.request(number) for number in range(count)]
    room = threading.Semaphore(window)

    def writer():
        pending = []
        for request in requests:
            if not room.acquire(blocking=False):
                session.write(b"".join(pending))
                pending = []
                room.acquire()
            pending.append(request)
            if len(pending) >= chunk:
                session.write(b"".join(pending))
                pending = []
        session.write(b"".join(pending))

    begin, cpu = time.perf_counter(), machine.cpu_seconds(session.process.pid)
    thread = threading.Thread(target=writer)
    thread.start()
    answered = 0
    while answered < count:
        new = len(session.answers())
        answered += new
        if new:
            room.release(new)
    thread.join()
    seconds = time.perf_counter() - begin
    return count / seconds, (machine.cpu_seconds(session.process.pid) - cpu) / count * 1e6


def stalled(session, limit=200_000, patience=2):
    """Writes without reading until the server takes no more, then reads all answers."""
    session.call()
    before = machine.resident_mib(session.process.pid)[0]
    os.set_blocking(session.input, False)
    sent, rest, last = 0, session.request(1), time.perf_counter()
    while sent < limit and time.perf_counter() - last < patience:
        try:
            rest = rest[os.write(session.input, rest):]
            last = time.perf_counter()
        except BlockingIOError:
            time.sleep(0.01)
        if not rest:
            sent, rest = sent + 1, session.request(sent + 2)
    swollen = machine.resident_mib(session.process.pid)[0]
    os.set_blocking(session.input, True)
    is_partial = len(rest) < len(session.request(sent + 1))
    writer = threading.Thread(target=session.write, args=(rest if is_partial else b"",))
    writer.start()
    answered = 0
    while answered < sent + is_partial:
        answered += len(session.answers())
    writer.join()
    return {"taken unread": sent, "answered afterwards": answered, "RSS before, MiB": before,
            "RSS stalled, MiB": swollen}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", required=True)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=TEXT")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--starts", type=int, default=10, help="for each run")
    parser.add_argument("--calls", type=int, default=5000, help="round trips for each run")
    parser.add_argument("--pipe", type=int, default=50_000, help="requests for each window")
    parser.add_argument("--windows", type=lambda text: [int(word) for word in text.split(",")], default=[64, 1000])
    parser.add_argument("--stall", action="store_true")
    parser.add_argument("command", nargs="+", help="after --")
    options = parser.parse_args()
    server = Server(options.command, options.method, dict(pair.split("=", 1) for pair in options.env))
    folder = Path(tempfile.mkdtemp(prefix="rpc-bench-"))
    names = iter(range(10**9))

    def start():
        place = folder / str(next(names))
        place.mkdir()
        return server.start(place)

    rows = {}

    def note(name, value):
        rows.setdefault(name, []).append(value)

    try:
        for _ in range(options.runs):
            for _ in range(options.starts):
                with start() as session:
                    note("start, ms", session.milliseconds_to_first_answer())
            with start() as session:
                session.call()
                time.sleep(1)
                note("RSS idle, MiB", machine.resident_mib(session.process.pid)[0])
                round_trips(session, 200)
                times = round_trips(session, options.calls)
                note("round trip p50, us", percentile(times, 0.5))
                note("round trip p99, us", percentile(times, 0.99))
                for window in options.windows:
                    rate, cpu = pipelined(session, options.pipe, window)
                    note(f"{window} in flight, requests/s", rate)
                    note(f"{window} in flight, CPU us each", cpu)
                note("RSS after load, MiB", machine.resident_mib(session.process.pid)[0])
        if options.stall:
            with start() as session:
                for name, value in stalled(session).items():
                    note(f"stall: {name}", value)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{' '.join(options.command)}  {options.method}")
    print(f"{machine.describe()}, CPU pressure {machine.cpu_pressure()} %")
    for name, values in rows.items():
        print(f"  {name:32} {statistics.median(values):12.1f}   ({min(values):.1f} … {max(values):.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
