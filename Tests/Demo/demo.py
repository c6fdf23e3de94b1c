#!/usr/bin/env python3
"""`make demo`: a feed post and a chat clip into the local outbox, then a post whose engine is killed in the middle.

usage: demo.py [FILE...]        photos and videos of yours; without any, some are made on the spot
Everything it writes is under .demo/. Exit status 0 if every check held, 1 if not, 2 for unusable files or programs.
"""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests" / "Servers"), str(ROOT / "Tests" / "Media")]

import make_media  # noqa: E402
from console import check, failed_checks, heading, megabytes, say  # noqa: E402
from engine_client import EngineGone, EngineProcess, RemoteError  # noqa: E402
from media_facts import displayed_size, has_position, kind_of, md5_of  # noqa: E402
from service_client import BusinessServiceProcess  # noqa: E402

PROGRAMS = ROOT / ".build" / "release"
DEMO = ROOT / ".demo"
TOKEN = "demo-token"
PATIENCE_MS = 600_000
STALL_AFTER = 65_536


class Unusable(Exception):
    """Nothing the demo could work with; the text says what to do."""


def files_to_send(names):
    if not names:
        heading("Making photos and a clip")
        paths = make_media.make(DEMO / "media")
    else:
        paths = [Path(name).resolve() for name in names]
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise Unusable("there is no file " + ", ".join(str(path) for path in missing))
    strange = [path for path in paths if kind_of(path) is None]
    if strange:
        raise Unusable("neither a photo nor a video: " + ", ".join(str(path) for path in strange))
    photos, clips = ([path for path in paths if kind_of(path) == kind] for kind in ("photo", "clip"))
    for path in paths:
        say(f"{path.name}: {megabytes(path.stat().st_size)}, {shown(displayed_size(path))}")
    return photos[:9], clips


def nearby(path):
    """Short where the file is below the current folder."""
    text, here = str(path), f"{Path.cwd()}/"
    return text.removeprefix(here)


def shown(size):
    return f"{size[0]}×{size[1]}"


def environment():
    """The user's own, with every folder of taskcenter under .demo/ and our programs first."""
    folders = {f"XDG_{name}_HOME": str(DEMO / name.lower()) for name in ("STATE", "DATA", "CONFIG")}
    return os.environ | folders | {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "API_TOKEN": TOKEN}


# Part one: the embedded default, by the command line.

def send(kind, files, *options):
    command = ["taskcenter", "send", kind, *(str(path) for path in files), *options, "--wait"]
    say("$ " + shlex.join(nearby(word) for word in command))
    result = subprocess.run([PROGRAMS / command[0], *command[1:]], env=environment())
    check(result.returncode == 0, f"taskcenter send {kind} ended with status {result.returncode}")


def journal():
    path = DEMO / "data" / "taskcenter" / "outbox" / "sent.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def show_delivery(delivery, sources):
    say(f"journal: {delivery['kind']} {delivery['taskId']}, {len(delivery['resources'])} resource(s)")
    check(len(delivery["resources"]) == len(sources), "every file is in it")
    for resource, source in zip(delivery["resources"], sources):
        receipt = json.loads(resource["receipt"])
        stored = Path(unquote(urlsplit(resource["url"]).path))
        before, after = displayed_size(source), displayed_size(stored)
        say(f"{source.name}: {megabytes(source.stat().st_size)}, {shown(before)} → "
            f"{megabytes(stored.stat().st_size)}, {shown(after)}")
        say(f"  {nearby(stored)}")
        say(f"  receipt {resource['receipt']}")
        check(md5_of(stored) == receipt["md5"] and stored.stat().st_size == receipt["size"],
              "the stored bytes are those of the receipt")
        check((after[0] > after[1]) == (before[0] > before[1]) and max(after) <= max(before),
              "the picture stands upright and was not blown up")
        check(not has_position(stored), "it holds no position")


def local_sends(photos, clips):
    sends = [("feed", photos, ("--text", "A day by the lake"))] if photos else []
    sends += [("chat", clips[:1], ())] if clips else []
    for kind, files, options in sends:
        heading({"feed": "A feed post into the local outbox", "chat": "A clip into a chat"}[kind])
        before = len(journal())
        send(kind, files, *options)
        lines = journal()[before:]
        check(len(lines) == 1, "the journal has one more line")
        for line in lines:
            show_delivery(line, files)


# Part two: a business service over HTTP, and a kill -9 in the middle.

def write_config(service):
    headers = {"Authorization": "Bearer ${env:API_TOKEN}"}
    config = {
        "retry": {"baseMs": 200, "capMs": 2000},
        "destinations": {"prod": {
            "credential": {"type": "http", "url": f"{service.url}/uploads", "headers": headers},
            "delivery": {"type": "http", "url": f"{service.url}/send/{{kind}}", "headers": headers}}},
        "accounts": {"default": {"destination": "prod"}}}
    path = DEMO / "killed" / "config.json"
    path.write_text(json.dumps(config, indent=2))
    return path


def start_engine(config):
    command = [PROGRAMS / "taskcenterd", "--store", DEMO / "killed" / "store", "--config", config]
    return EngineProcess(command, environment(), log=DEMO / "engine.log")


def wait_for(service, engine, task_id, phase, count):
    """Until the service has seen it, as long as the task is still on its way there."""
    while True:
        try:
            return service.wait("PUT", "/objects", phase, count, timeout_ms=2000)
        except TimeoutError:
            task = engine.call("task/get", {"id": task_id})["task"]
            if task["state"] in ("sent", "failed", "canceled"):
                raise Unusable(f"the task is {task['state']} before it was killed: {task.get('failure')}") from None


def killed_send(files):
    heading("A post over HTTP, whose engine is killed in the middle")
    with BusinessServiceProcess(DEMO / "killed" / "business", TOKEN) as service:
        say(f"business service at {service.url}")
        config = write_config(service)
        # The first upload goes through; whichever comes after it stands still in the middle.
        service.faults({"action": "stall", "bytes": STALL_AFTER, "skip": 1 if len(files) > 1 else 0,
                        "match": {"method": "PUT", "path": "/objects"}})
        with start_engine(config) as engine:
            status = engine.call("engine/status")
            task = engine.call("task/submit", {
                "key": "demo-post", "kind": "feedPost", "payload": {"text": "Sent in spite of everything"},
                "resources": [{"source": {"path": str(path)}} for path in files]})["task"]
            say(f"engine {status['pid']}, task {task['id']}")
            if len(files) > 1:
                wait_for(service, engine, task["id"], "finished", 1)
            under_way = wait_for(service, engine, task["id"], "held", 1)
            # The service knows it a moment before the engine does; what nobody knows of may go up again.
            while len(files) > 1 and not any(each["state"] == "uploaded" for each in task["resources"]):
                task = engine.call("task/get", {"id": task["id"]})["task"]
                if task["state"] == "failed":
                    raise Unusable(f"the task has failed before it was killed: {task['failure']['message']}")
            engine.kill(status["pid"])
        stored = [entry["path"] for entry in service.log() if entry["method"] == "PUT" and entry.get("status") == 201]
        say(f"kill -9: {len(stored)} of {len(files)} stored, {len(under_way)} cut after "
            f"{megabytes(under_way[0]['bodyBytes'])}, nothing published")
        check(not service.posts(), "nothing was published before everything was there")
        service.faults()
        finish_send(service, config, status, task["id"], stored)


def finish_send(service, config, before, task_id, stored):
    with start_engine(config) as engine:
        status = engine.call("engine/status")
        say(f"engine {status['pid']} on the same store")
        check(status["runId"] != before["runId"], "a front end can tell that this is another run")
        patience = {"id": task_id, "timeoutMs": PATIENCE_MS}
        task = engine.call("task/wait", patience, timeout=PATIENCE_MS / 1000 + 10)["task"]
        remote_id = task.get("result", {}).get("remoteId")
        detail = f" as {remote_id}" if remote_id else f": {task.get('failure', {}).get('message')}"
        check(task["state"] == "sent", f"the task is {task['state']}{detail}")
        posts = service.posts()
        check([post["id"] for post in posts] == [remote_id], f"the service has {len(posts)} post of it")
        log = service.log()
        deliveries = [entry for entry in log if entry["path"].startswith("/send/")]
        check(len(deliveries) == 1, f"it was delivered {len(deliveries)} time(s)")
        again = [path for path in stored if sum(e["path"] == path and e["method"] == "PUT" for e in log) > 1]
        check(not again, "what was stored before the kill did not go up again")
        for resource in posts[0]["delivery"]["resources"] if posts else []:
            receipt = json.loads(resource["receipt"])
            size, md5 = stored_facts(resource["url"])
            check((size, md5) == (receipt["size"], receipt["md5"]),
                  f"{resource['index']}: {megabytes(size)}, MD5 {md5} as in the receipt")
        check(engine.close() == 0, "at the end of its input the engine exits with status 0")


def stored_facts(url):
    """What is stored, read from the service's folder and not through it."""
    path = DEMO / "killed" / "business" / unquote(urlsplit(url).path).lstrip("/")
    return path.stat().st_size, md5_of(path)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        programs = ("taskcenterd", "taskcenter", "taskcenter-export")
        missing = [name for name in programs if not (PROGRAMS / name).exists()]
        if missing:
            raise Unusable(f"{', '.join(missing)} not built yet: run `make build`")
        for leftover in ("state", "data", "config", "killed", "engine.log"):
            path = DEMO / leftover
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        DEMO.mkdir(exist_ok=True)
        photos, clips = files_to_send(sys.argv[1:])
        local_sends(photos, clips)
        killed_send(photos or clips[:1])
    except Unusable as problem:
        print(f"demo: {problem}", file=sys.stderr)
        return 2
    except (EngineGone, RemoteError) as problem:
        print(f"demo: {problem}", file=sys.stderr)
        if (DEMO / "engine.log").exists():
            print((DEMO / "engine.log").read_text(errors="replace")[-2000:], file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    heading(f"{len(failed_checks)} checks failed" if failed_checks else "Everything held.")
    return 1 if failed_checks else 0


if __name__ == "__main__":
    sys.exit(main())
