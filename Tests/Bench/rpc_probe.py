#!/usr/bin/env python3
"""What a JSON-RPC server on stdio does with hostile or unusual input, one line per case. It judges nothing: read it.

  rpc_probe.py --method engine/status -- .build/release/taskcenterd --store {tmp}

Each case runs in a fresh process: its bytes, then a request with the id "alive". Shown are whether that was answered,
and what else came back.
"""
import argparse
import json
import os
import select
import sys
import tempfile
import time

from rpc_bench import Server


def cases(method, big):
    def line(**members):
        return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"

    known = line(id=1, method=method)
    bare = known[:-1]
    return {
        "malformed JSON": b'{"jsonrpc":"2.0","id":1,"meth\n',
        "not an object": b"42\n",
        "empty line": b"\n",
        "CRLF": bare + b"\r\n",
        "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n',
        "lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n',
        "NUL byte": b'{"jsonrpc":"2.0",\x00"id":1,"method":"x"}\n',
        "unknown method": line(id=1, method="no/such"),
        "unknown notification": line(method="no/such"),
        "no method": line(id=1),
        "no version": json.dumps({"id": 1, "method": method}).encode() + b"\n",
        "version 1.0": json.dumps({"jsonrpc": "1.0", "id": 1, "method": method}).encode() + b"\n",
        "params 7": line(id=1, method=method, params=7),
        "extra params": line(id=1, method=method, params=[1, 2, 3]),
        "id null": line(id=None, method=method),
        "id string": line(id="abc", method=method),
        "id 1.5": line(id=1.5, method=method),
        "id 2^53+1": line(id=2**53 + 1, method=method),
        "id object": line(id={"a": 1}, method=method),
        "same id twice": known * 2,
        "notification of a request": line(method=method),
        "batch of 2": b"[" + bare + b"," + bare + b"]\n",
        "empty batch": b"[]\n",
        "batch of notifications": b"[" + line(method=method)[:-1] + b"]\n",
        "answer to nothing": line(id=999, result=1),
        f"{big >> 20} MiB message": line(id=1, method=method, params=["x" * big]),
        "100000 levels": b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        "two objects on one line": bare + known,
        "byte order mark": b"\xef\xbb\xbf" + known,
    }


def probe(server, data):
    """- Returns whether it lives, and the first other lines."""
    with tempfile.TemporaryDirectory() as folder, server.start(folder) as session:
        try:
            session.write(data + session.request("alive"))
        except BrokenPipeError:
            pass
        output, end = b"", time.monotonic() + 3
        while select.select([session.output], [], [], max(0, end - time.monotonic()))[0]:
            chunk = os.read(session.output, 1 << 20)
            if not chunk:
                break
            output += chunk
            if b'"alive"' in output:
                # Answers may overtake each other; whoever is late by more than this is not shown.
                end = time.monotonic() + 0.2
    lines = [text for text in output.decode(errors="replace").splitlines() if text.strip()]
    return any('"alive"' in text for text in lines), [text[:200] for text in lines if '"alive"' not in text][:2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", required=True)
    parser.add_argument("--env", action="append", default=[], metavar="NAME=TEXT")
    parser.add_argument("--big", type=int, default=16 << 20)
    parser.add_argument("command", nargs="+", help="after --")
    options = parser.parse_args()
    server = Server(options.command, options.method, dict(pair.split("=", 1) for pair in options.env))
    for name, data in cases(options.method, options.big).items():
        lives, lines = probe(server, data)
        print(f"{'alive' if lives else 'MUTE '} {name:26} {'  '.join(lines) or '(no answer)'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
