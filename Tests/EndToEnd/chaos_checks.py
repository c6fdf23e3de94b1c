"""What must be true when a chaos run is over, whatever happened in it."""
import hashlib
import json
import os
import re
import sqlite3
from collections import Counter
from pathlib import Path

from harness import HERE, TOKEN  # before what it puts on the path
from chaos_front_ends import SECRETS
from storage import SECRET

PAGE = (HERE.parent.parent / "docs" / "lifecycle.md").read_text()
EDGES = set(re.findall(r"^  (\w+) --> (\w+)", PAGE, re.MULTILINE))


def check_deliveries(world, tasks, deliveries, deleted):
    """Each sent task arrived once and whole; nothing else did."""
    arrived = Counter(delivery["taskId"] for _, _, delivery in deliveries)
    known = {task["id"]: task for task in tasks}
    for one, count in arrived.items():
        if count > 1:
            yield f"{one} was delivered {count} times"
        if one in known and known[one]["state"] == "canceled":
            yield f"{one} is canceled and was delivered"
        if one not in known and one not in deleted:
            yield f"{one} was delivered and is not known"
    for task in tasks:
        if task["state"] == "sent" and not arrived[task["id"]]:
            yield f"{task['id']} is sent and was not delivered"
    for destination, _, delivery in deliveries:
        task = known.get(delivery["taskId"])
        if task:
            yield from check_content(world, task, destination, delivery)


def check_content(world, task, destination, delivery):
    name = task["id"]
    if destination != task["destination"]:
        yield f"{name} arrived at {destination}"
    failed = [each["index"] for each in delivery.get("failed", [])]
    if delivery["payload"] != task["payload"] or failed and task["payload"]["partial"] == "fail":
        yield f"{name} was delivered with {delivery['payload']}, failed {delivery.get('failed')}"
    indices = [each["index"] for each in delivery["resources"]]
    if indices != sorted(indices) or sorted(indices + failed) != list(range(len(task["resources"]))):
        yield f"{name} was delivered with the resources {indices}, failed {failed}"
    if indices != [each["index"] for each in task["resources"] if "url" in each]:
        yield f"{name} was delivered with the resources {indices}, others are up"
    for resource in delivery["resources"]:
        receipt = json.loads(resource["receipt"])
        try:
            content = world.object(resource["url"])
        except OSError as error:
            content = None
            yield f"{name}/{resource['index']}: {error}"
        if content is None:
            yield f"{name}/{resource['index']}: nothing is stored at {resource['url']}"
        elif ((len(content), hashlib.md5(content).hexdigest(), hashlib.sha256(content).hexdigest())
              != (receipt["size"], receipt["md5"], receipt["sha256"])):
            yield f"{name}/{resource['index']}: other bytes are stored at {resource['url']} than its receipt says"


def check_lanes(tasks, deliveries, histories):
    """What was submitted first arrived first, unless it left its lane before, or came as a draft."""
    at = {delivery["taskId"]: (when, delivery) for _, when, delivery in deliveries}
    order = sorted(tasks, key=lambda task: task["id"])  # ids are in the order of submits
    for place, first in enumerate(order):
        for second in order[place + 1:]:
            if (first["account"], first["lane"]) != (second["account"], second["lane"]) or second["id"] not in at:
                continue
            then = at[second["id"]][0]
            has_left = first["id"] not in at or any(
                entry["from"] == "draft" or entry["to"] in ("paused", "failed") and entry["at"] <= then + 2
                for entry in histories[first["id"]] if "resource" not in entry)
            if not has_left and at[first["id"]][0] > then:
                yield f"{second['id']} overtook {first['id']} in lane {first['lane']}"


def check_history(task, entries):
    own = [(entry["from"], entry["to"]) for entry in entries if "resource" not in entry]
    name = task["id"]
    yield from (f"{name}: no edge {edge}" for edge in own if edge not in EDGES)
    chains = {None: (own, task["state"])} | {
        each["index"]: ([(entry["from"], entry["to"]) for entry in entries if entry.get("resource") == each["index"]],
                        each["state"]) for each in task["resources"]}
    for index, (steps, state) in chains.items():
        if any(one[1] != two[0] for one, two in zip(steps, steps[1:])) or (steps and steps[-1][1] != state):
            yield f"{name}/{index} is {state} after {steps}"
        if index is not None and any(step[0] == "uploaded" for step in steps):
            yield f"{name}/{index} was uploaded and went on: {steps}"


def check_subscription(watcher, store, deleted):
    """Every change that the store has was told once, in order; what it has no more was of a deleted task."""
    told = {cursor: (task, state) for cursor, task, state in watcher.changes}
    with sqlite3.connect(f"file:{store / 'taskcenter.db'}?mode=ro", uri=True) as database:
        kept = dict(database.execute("SELECT cursor, task_id FROM changes"))
    for cursor in kept.keys() - told.keys():
        yield f"change {cursor} of {kept[cursor]} was never told"
    for cursor, (task, _) in told.items():
        if kept.get(cursor, task) != task:
            yield f"change {cursor} was told of {task} and is kept of {kept[cursor]}"
        if cursor not in kept and task not in deleted:
            yield f"change {cursor} of {task} was told and is not in the store"


def check_store(store, log):
    with sqlite3.connect(f"file:{store / 'taskcenter.db'}?mode=ro", uri=True) as database:
        found = database.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            yield f"the store is damaged: {found}"
        yield from (f"{row} dangles" for row in database.execute("PRAGMA foreign_key_check"))
    for folder in ("exports", "sources"):
        yield from (f"{path} was left" for path in (store / folder).iterdir())
    yield from (f"{path.name} was set aside" for path in store.glob("*.corrupt-*"))
    content = b"".join(path.read_bytes() for path in store.glob("taskcenter.db*"))
    yield from (f"{secret} is in the store" for secret in (TOKEN, SECRET) if secret.encode() in content)
    text = log.read_text(errors="replace")
    yield from (f"{secret} is in the log" for secret in SECRETS if secret in text)
    for word in ("internalError", "Fatal error", "unforeseen"):
        yield from (line for line in text.splitlines() if word in line)


def check_servers(world):
    """No upload that the engine knew of is left half done."""
    seen = "".join(f"{entry['path']} " for name in ("weed", "tus") for entry in world.lines[name].log())
    for key, upload in world.weed.open_uploads().items():
        # One whose credential never arrived, or was never used, is the issuer's.
        if upload in seen:
            yield f"the upload {upload} of {key} is still open"
    yield from (f"the tus upload {name} is still open" for name in world.tus.unfinished() if name in seen)
    for name in ("service", "office"):
        for entry in world.lines[name].log():
            is_refusal = 400 <= entry.get("status", 0) < 500 and not (entry["rule"] or "").count("corrupt")
            if is_refusal:
                yield f"{name} answered {entry['status']} to {entry['method']} {entry['path']}"
    yield from world.office.complaints
    yield from (f"{path} was left" for path in (world.folder / "outbox").rglob("*.part"))


def check_processes(folder):
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={folder}".encode() in (process / "environ").read_bytes().split(b"\0"):
                yield f"process {process.name} is still there: {os.readlink(process / 'exe')}"
        except OSError:
            pass  # It has ended, or is another user's.


def untold_uploads(store):
    """Uploads that the servers still have to be told of."""
    with sqlite3.connect(f"file:{store / 'taskcenter.db'}?mode=ro", uri=True) as database:
        yield from database.execute("SELECT id FROM abandoned_uploads")
