"""Start, idle memory and round trip, beside deltachat-rpc-server: the same kind of program (an engine behind JSON-RPC
on stdio, over SQLite), well made and well known."""
import statistics
import subprocess
import sys
import time

import machine
from rpc_bench import Server, percentile, round_trips

DRAFTS = 200
ROUNDS = 15
BLOCKS, CALLS = 10, 500


def deltachat(build):
    """- Returns the program itself, not the script that PyPI puts in front of it; None where it can't be had."""
    venv = build / "bench-venv"

    def found():
        return next(venv.glob("lib/python*/site-packages/deltachat_rpc_server/deltachat-rpc-server"), None)

    if not found():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "-q", "install", "deltachat-rpc-server"], check=False)
    return found()


def servers(programs, build):
    """By name; each uses the folder it is given as its store."""
    ours = Server([programs / "taskcenterd", "--store", "{tmp}/store"], "engine/status", {"XDG_CONFIG_HOME": "{tmp}"})
    found = {"taskcenterd": ours}
    theirs = deltachat(build)
    if theirs:
        found["deltachat-rpc-server"] = Server([theirs], "get_all_account_ids", {"DC_ACCOUNTS_PATH": "{tmp}/accounts"})
    else:
        print("skipped: deltachat-rpc-server can't be installed, so there is nothing to compare with", file=sys.stderr)
    return found


def fill(name, server, folder):
    """A store as it is after some use."""
    folder.mkdir(parents=True)
    method, params = "add_account", None
    if name == "taskcenterd":
        method = "task/submit"
        params = {"kind": "message", "draft": True, "payload": {"text": "hello"}, "resources": []}
    with Server(server.command, method, server.environment).start(folder) as session:
        for number in range(DRAFTS if params else 1):
            session.write(session.request(number, params))
            answer = next(iter(session.answers()), {})
            while not answer:
                answer = next(iter(session.answers()), {})
            if "error" in answer:
                raise RuntimeError(f"{name}: {method} answers {answer['error']}")


def measure(programs, build, work):
    """- Returns the rows of the table: what, ours, theirs (None where there is none)."""
    found = servers(programs, build)
    starts, memory, trips = {}, {}, {}
    for name, server in found.items():
        fill(name, server, work / f"{name}-used")
    for number in range(ROUNDS):
        for name, server in found.items():
            for state in ("fresh", "used"):
                folder = work / f"{name}-used" if state == "used" else work / f"{name}-fresh-{number}"
                folder.mkdir(exist_ok=True)
                with server.start(folder) as session:
                    starts.setdefault((name, state), []).append(session.milliseconds_to_first_answer())
                    if number < 3:
                        time.sleep(1)
                        memory.setdefault((name, state), []).append(machine.resident_mib(session.process.pid))
    sessions = {name: server.start(work / f"{name}-used") for name, server in found.items()}
    try:
        for session in sessions.values():
            round_trips(session, 200)
        for _ in range(BLOCKS):
            for name, session in sessions.items():
                trips.setdefault(name, []).append(percentile(round_trips(session, CALLS), 0.5))
    finally:
        for session in sessions.values():
            session.close()

    def row(text, values, pick, unit):
        ours, theirs = (statistics.median(map(pick, values[name])) if name in values else None
                        for name in ("taskcenterd", "deltachat-rpc-server"))
        return text, ours, theirs, unit

    def of_state(table, state):
        return {name: values for (name, its_state), values in table.items() if its_state == state}

    rows = []
    for state, text in (("fresh", "new store"), ("used", "existing store")):
        rows.append(row(f"start → first answer, {text}", of_state(starts, state), lambda value: value, "ms"))
    for state, text in (("fresh", "new store"), ("used", "existing store")):
        rows.append(row(f"RSS after 1 s idle, {text}", of_state(memory, state), lambda value: value[0], "MiB"))
        rows.append(row(f"PSS after 1 s idle, {text}", of_state(memory, state), lambda value: value[1], "MiB"))
    rows.append(row("round trip p50", trips, lambda value: value, "µs"))
    return rows
