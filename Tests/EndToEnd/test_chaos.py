"""A run of sends of every kind over every protocol, while engine, servers, lines and disk fail and people meddle.

What happens is drawn from a seed: CHAOS_SEED=n and CHAOS_SENDS=m repeat one run, CHAOS_SEEDS=n makes n further runs of
twice the length (`make test-all`: five). A failure tells seed and steps; with CHAOS_KEEP=folder, store and logs are kept there. Threads
and processes race as they like, so a seed repeats a run's schedule, not its every moment.
"""
import json
import os
import signal
import subprocess
import time
import unittest

import chaos_checks as checks
from chaos_front_ends import Publisher, Watcher
from chaos_schedule import Schedule
from chaos_steps import Steps
from chaos_world import World
from harness import EngineGone, RemoteError
from door_client import knock
from storage import SECRET
from test_s3 import StorageLine

SENDS = int(os.environ.get("CHAOS_SENDS", 20))
SLOW = bool(os.environ.get("TASKCENTER_SLOW_TESTS"))
SEEDS = int(os.environ.get("CHAOS_SEEDS", 5 if SLOW else 0))
DISK = 96 << 20


class Chaos(Steps, StorageLine):
    def setUp(self):
        super().setUp()
        self.problems, self.done = [], []
        self.sent, self.ids, self.pending = {}, {}, []
        self.told, self.deleted, self.rules = {}, set(), {}
        self.mounted = self.mount()

    def mount(self):
        """The store on a disk of its own, that can be filled. - Returns whether this user may have one."""
        self.store.mkdir()
        options = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "none", str(self.store)]
        if os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode != 0:
            print("chaos: no disk is filled, which needs root", end=" ")
            return False
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.store)])
        return True

    def environment(self):
        return super().environment() | {"S3_SECRET": SECRET}

    # The run

    def chaos(self, seed, sends):
        self.seed = seed
        self.schedule = Schedule(seed, sends, self.mounted).steps
        self.world = World(seed, self.folder, self.weed)
        self.addCleanup(self.world.stop)
        self.set_config("usual")
        self.door = self.store / "engine.sock"
        self.watchers = [Watcher(self.door), Watcher(self.door)]
        self.publisher = Publisher(self.door, self.world.office, seed)
        self.is_watched, self.is_published = True, True
        self.engine = None
        try:
            self.start()
            for step in self.schedule:
                self.take(step)
            self.settle()
            self.check()
        except (AssertionError, EngineGone, TimeoutError, RemoteError) as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        for watcher in self.watchers:
            self.problems += watcher.problems
        self.problems += self.publisher.problems
        if self.problems:
            kept = os.environ.get("CHAOS_KEEP")
            if kept:
                subprocess.run(["cp", "-a", self.folder, f"{kept}/{seed}-{os.getpid()}"])
            steps = "\n".join(json.dumps(step) for step in self.done)
            told = "\n".join(self.problems[:30])
            self.fail(f"CHAOS_SEED={seed} CHAOS_SENDS={sends}\n{told}\n\nwhat was done until then:\n{steps}\n\n{self.engine_log()}")

    def take(self, step):
        self.wait_for(step)
        if self.is_published:
            self.publisher.attach()
        self.done.append(step)
        getattr(self, "do_" + step["do"], self.verb)(step)

    def wait_for(self, step):
        """As much as the step wants to see happen; a second at most, for the world may stand still."""
        if step.get("after") == "changes":
            self.watchers[0].wait_for_changes(step["count"], 1)
        elif step.get("after") == "bytes":
            line, deadline = self.world.lines[step["line"]], time.monotonic() + 1
            wanted = line.bytes_passed() + step["count"]
            while line.bytes_passed() < wanted and not self.watchers[0].is_quiet() and time.monotonic() < deadline:
                time.sleep(0.01)

    def start(self):
        if self.config_name == "broken":  # with which no engine starts
            self.set_config("usual")
        for attempt in (1, 2):
            self.engine = self.start_engine(self.folder / "config.json")
            try:
                self.engine.call("engine/status")
                break
            except EngineGone as error:
                self.engine.close()
                if attempt == 2 or not (self.store / "filler").exists():
                    raise
                self.done.append({"do": f"the full disk kept the engine from starting: {error}"})
                self.do_free()
        self.watchers[0].attach()
        if self.is_watched:
            self.watchers[1].attach()
        if self.is_published:
            self.publisher.attach()

    def leave(self):
        for one in (*self.watchers, self.publisher):
            one.detach()

    def close(self):
        status = self.engine.close()
        self.leave()
        if status != 0:
            self.problems.append(f"the engine ended with status {status}")

    # The end

    def settle(self):
        """The faults stop, everything is resent: each task ends."""
        self.do_free()
        self.world.calm()
        self.set_config("usual")
        self.engine.process.send_signal(signal.SIGHUP)
        self.publisher.is_honest = self.is_published = True
        self.publisher.attach()
        if not self.is_watched:
            self.is_watched = True
            self.watchers[1].attach()
        self.client = knock(self.door)
        self.do_network({"online": True})
        for asked in self.pending:
            self.answered(asked)
        for _ in range(8):
            tasks = self.tasks()
            missing = self.submit_again({task["key"] for task in tasks})
            waiting = [task for task in tasks if task["state"] not in ("sent", "canceled")]
            if not waiting and not missing:
                return
            for task in waiting:
                self.resend(task)
        self.problems += [f"{task['id']} is {task['state']} at the end: {task.get('failure')}" for task in self.tasks()
                          if task["state"] not in ("sent", "canceled")]

    def tasks(self):
        found, page = [], {}
        while page is not None:
            answer = self.client.call("task/list", {"limit": 100, **page})
            found += answer["tasks"]
            page = {"cursor": answer["cursor"]} if "cursor" in answer else None
        return found

    def submit_again(self, known):
        """What was never answered, or not taken; a task that was deleted does not come back."""
        gone = {key for key, one in self.ids.items() if one in self.deleted}
        missing = [key for key in self.sent if key not in known and key not in gone]
        for key in missing:
            try:
                self.ids[key] = self.client.call("task/submit", self.sent[key])["task"]["id"]
            except RemoteError as error:
                if error.code != "laneBusy":
                    raise
        return missing

    def resend(self, task):
        verb = {"draft": "start", "paused": "resume", "failed": "retry"}.get(task["state"])
        try:
            if verb:
                self.client.call(f"task/{verb}", {"id": task["id"]})
            self.client.call("task/wait", {"id": task["id"], "timeoutMs": 20_000})
        except RemoteError as error:
            if error.code not in ("laneBusy", "invalidState"):
                raise

    def check(self):
        tasks = self.tasks()
        histories = {task["id"]: self.client.call("task/history", {"id": task["id"]})["entries"] for task in tasks}
        deliveries = self.world.deliveries() + [("app", at, post) for at, post in self.publisher.posts]
        add = self.problems.extend
        add(checks.check_deliveries(self.world, tasks, deliveries, self.deleted))
        add(checks.check_lanes(tasks, deliveries, histories))
        states = {task["id"]: task["state"] for task in tasks}
        for task in tasks:
            add(checks.check_history(task, histories[task["id"]]))
        add(f"{one} was told to be {state} and is {states[one]}" for one, state in self.told.items()
            if state in ("sent", "canceled") and states.get(one, state) != state)
        add(f"{key} was submitted and is lost" for key, one in self.ids.items() if one not in states and one not in self.deleted)
        status = self.client.call("engine/status")
        if status["uploads"]["used"] or status["exports"]["used"] or status["notices"]:
            self.problems.append(f"the engine's status is {status}")
        self.wait_until(lambda: not list(checks.untold_uploads(self.store)))
        add(checks.check_servers(self.world))
        self.client.close()
        self.close()
        for watcher in self.watchers:
            add(checks.check_subscription(watcher, self.store, self.deleted))
        add(checks.check_store(self.store, self.log))
        self.wait_until(lambda: not list(checks.check_processes(self.folder)))  # workers see by themselves that it has gone

    def test_whatever_breaks_every_send_ends_once_and_whole_and_nothing_is_left(self):
        self.chaos(int(os.environ.get("CHAOS_SEED", 1)), SENDS)


def add_run(seed):
    def test(self):
        self.chaos(seed, 2 * SENDS)
    setattr(Chaos, f"test_seed_{seed:04}", test)


for number in range(SEEDS):
    add_run(int(os.environ.get("CHAOS_SEED", 1)) + 1 + number)


if __name__ == "__main__":
    unittest.main()
