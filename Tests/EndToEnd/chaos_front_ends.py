"""Front ends of a chaos run: one that watches and misses nothing, and one that publishes and can't be relied upon."""
import json
import random
import threading
import time

from harness import TOKEN, EngineGone  # before what it puts on the path
from door_client import knock
from storage import SECRET
from chaos_world import SOURCE_TOKEN

SECRETS = (TOKEN, SECRET, SOURCE_TOKEN, "X-Amz-Signature", "AWS4-HMAC")


class Watcher:
    """Subscribes to everything, goes on with `since` whenever it comes back, and says what it should not have seen."""

    def __init__(self, door):
        self.door, self.client = door, None
        self.cursor = None
        self.changes, self.problems = [], []
        self.progress, self.states = {}, {}
        self.counted = threading.Condition()

    def attach(self):
        self.client = knock(self.door, self.hear)
        self.progress = {}  # what is told of running work is kept by an engine, not by the store
        since = {} if self.cursor is None else {"since": self.cursor}
        answer = self.client.call("event/subscribe", {"progressIntervalMs": 20, **since})
        if answer.get("truncated"):
            self.problems.append(f"since {self.cursor} was too old")
        if self.cursor is None:
            self.cursor = answer["cursor"]

    def detach(self):
        if self.client:
            self.client.close()
            self.client = None

    def hear(self, message):
        text = json.dumps(message)
        self.problems += [f"{secret} was told: {text}" for secret in SECRETS if secret in text]
        method, params = message["method"], message.get("params", {})
        if method == "task/progress":
            self.note_progress(params["id"], params["progress"], None)
        elif method in ("task/changed", "task/deleted"):
            self.note_change(params)

    def note_change(self, params):
        cursor, task = params["cursor"], params.get("task")
        if self.changes and cursor <= self.changes[-1][0]:
            self.problems.append(f"change {cursor} came after {self.changes[-1][0]}")
        if task:
            self.note_progress(task["id"], task["progress"], task["state"])
            if (task["progress"] == 1) != (task["state"] == "sent"):
                self.problems.append(f"{task['id']} is {task['state']} with progress {task['progress']}")
        with self.counted:
            self.changes.append((cursor, task["id"] if task else params["id"], task and task["state"]))
            self.states[self.changes[-1][1]] = self.changes[-1][2]
            self.cursor = cursor
            self.counted.notify_all()

    def note_progress(self, task, progress, state):
        last = self.progress.get(task, 0)
        if progress < last:
            self.problems.append(f"progress of {task} fell from {last} to {progress} ({state or 'task/progress'})")
        self.progress[task] = 0 if state == "failed" else progress

    def is_quiet(self):
        """Nothing will happen by itself."""
        return not {"queued", "exporting", "uploading", "delivering", "retrying"} & set(self.states.values())

    def wait_for_changes(self, count, seconds):
        with self.counted:
            wanted = len(self.changes) + count
            self.counted.wait_for(lambda: len(self.changes) >= wanted or self.is_quiet(), seconds)


class Publisher:
    """Issues credentials and publishes for the destination `app`; loses answers, fails and leaves as drawn."""

    def __init__(self, door, office, seed):
        self.door, self.office, self.random = door, office, random.Random(seed)
        self.client, self.is_honest = None, False
        self.performed, self.problems, self.posts = {}, [], []

    def attach(self):
        if self.client and not self.client.is_gone:
            return
        self.client = client = knock(self.door, lambda message: self.hear(client_box, message))
        client_box = client
        client.call("initialize", {"capabilities": {"deliver": True, "credentials": True}})

    def detach(self):
        if self.client:
            self.client.close()
            self.client = None

    def hear(self, client, message):
        if "id" not in message:
            return
        request, number = message["params"], message["id"]
        try:
            if message["method"] == "credential/issue":
                self.reply(client, number, result=self.office.issue(request))
            else:
                self.perform(client, number, request)
        except OSError:
            self.reply(client, number, error={"code": 1, "message": "the storage does not answer"})

    def reply(self, client, number, **outcome):
        try:
            client.write({"id": number, **outcome})
        except EngineGone:
            pass

    def perform(self, client, number, request):
        task, earlier = request["taskId"], self.performed.setdefault(request["taskId"], [])
        if request["mode"] == "send" and any(outcome != "refused" for outcome in earlier):
            self.problems.append(f"{task} was asked for as a first send after {earlier}")
        outcome = "done" if self.is_honest else self.random.choices(("done", "lost", "refused", "left"), (12, 3, 3, 2))[0]
        earlier.append(outcome)
        if outcome in ("done", "lost"):
            content = {name: value for name, value in request.items() if name not in ("attempt", "mode")}
            if task not in [post["taskId"] for _, post in self.posts]:
                self.posts.append((time.time_ns() // 1_000_000, content))
            elif content not in [post for _, post in self.posts]:
                self.problems.append(f"{task} was asked for again with another content")
        if outcome == "done":
            self.reply(client, number, result={"remoteId": f"app-{task}"})
        elif outcome == "refused":
            self.reply(client, number, error={"code": 1, "message": "not now"})
        else:
            client.is_gone = True
            client.socket.shutdown(2)
