"""The steps of a chaos run: what people do, and what breaks. Mixed into the test that owns world, engine and front ends."""
import json
import os
import signal

from harness import EngineGone, RemoteError
from chaos_world import SOURCE_TOKEN

# What a verb may be answered while the world breaks down.
REFUSALS = {"invalidState", "notFound", "storageFull", "storeUnavailable", "laneBusy", "requestCancelled"}
CONFIGS = {"slots": {"uploads": {"slots": 1}, "exports": {"picturesPerSlot": 1}},
           "rate": {"uploads": {"bytesPerSecond": 20_000_000}}, "retry": {"retry": {"attempts": 3, "resourceRetries": 0}},
           "usual": {}}


class Steps:
    # What people do

    def do_submit(self, step):
        key = f"send-{step['number']}"
        if key not in self.sent:
            kind = "feedPost" if step["kind"].startswith("feed") else step["kind"]
            resources = [self.resource(kind, source) for source in step["sources"]]
            params = {"kind": kind, "key": key, "account": step["account"], "destination": step["destination"],
                      "partial": step["partial"], "payload": {"text": key, "partial": step["partial"]}, "resources": resources}
            if kind != "avatar":
                params["lane"] = f"{kind if kind in ('feedPost', 'log') else 'chat'}-{step['lane']}"
            self.sent[key] = params | ({"draft": True} if step["draft"] else {})
        self.ask("task/submit", self.sent[key], key, step["manner"])

    def resource(self, kind, source):
        media, what = self.world.media, source["is"]
        if what == "log":
            return {"source": {"paths": [str(media.log(source["size"]))]}}
        path = {"clip": media.clips[source.get("which", 0) % 2], "sound": media.sound}.get(
            what, media.photos[source.get("which", 0)])
        resource, is_image = {}, what in ("photo", "cover")
        if source["how"] == "url" and is_image:
            resource = {"source": {"url": f"{self.world.lines['files'].url}/{what}.jpg?token={SOURCE_TOKEN}"},
                        "role": "image" if what == "photo" else "cover"}
        else:
            path = path if source["how"] == "shared" else media.fresh(path)
            resource = {"source": {"path": str(path)} | ({"keep": True} if source["how"] == "keep" else {})}
        return resource | ({"export": {"derive": source["derive"]}} if "derive" in source else {})

    def verb(self, step):
        if self.ids:
            ids = list(self.ids.values())
            one = ids[-1 - int(step["which"] * len(ids))]  # the latest as a rule
            self.ask(f"task/{step['do']}", {"id": one}, one, step["manner"])

    def ask(self, method, params, about, manner):
        client = self.watchers[0].client
        try:
            asked = (client, client.ask(method, params), method, about)
            if manner == "withdraws":
                client.write({"method": "$/cancelRequest", "params": {"id": asked[1]}})
        except EngineGone:
            return
        self.answered(asked) if manner == "waits" else self.pending.append(asked)

    def answered(self, asked):
        client, number, method, about = asked
        try:
            result = client.result(number)
        except EngineGone:
            if method == "task/delete":
                self.deleted.add(about)  # or not
            return
        except RemoteError as error:
            if error.code not in REFUSALS and (error.error.get("data") or {}).get("reason") != "diskFull":
                self.problems.append(f"{method} {about}: {error.error}")
            return
        if method == "task/submit":
            self.ids[about] = result["task"]["id"]
        elif method == "task/delete":
            self.deleted.add(about)
        elif method == "task/cancel":
            self.told[about] = result["task"]["state"]
        elif method == "task/retry":
            self.told.pop(about, None)

    # What breaks

    def do_kill(self, step):
        self.engine.kill()
        self.leave()
        self.start()

    def do_close(self, step):
        self.close()
        self.start()

    def do_killWorker(self, step):
        children = f"/proc/{self.engine.process.pid}/task/{self.engine.process.pid}/children"
        for pid in open(children).read().split()[:1]:
            os.kill(int(pid), signal.SIGKILL)

    def do_rule(self, step):
        """Beside the latest ones, which begin anew."""
        rules = self.rules[step["what"]] = (step["rules"] + self.rules.get(step["what"], []))[:6]
        self.world.lines[step["what"]].set(*rules)

    def do_killServer(self, step):
        self.world.kill(step["what"])

    def do_startServer(self, step):
        self.world.start(step["what"])

    def do_lineDown(self, step):
        self.world.lines[step["what"]].down()

    def do_lineUp(self, step):
        self.world.lines[step["what"]].up()

    def do_cutDownload(self, step):
        self.world.files.set(cut=step["at"])

    def do_config(self, step):
        self.set_config(step["what"])
        self.engine.process.send_signal(signal.SIGHUP)

    def set_config(self, name):
        text = "{" if name == "broken" else json.dumps(self.world.config(**CONFIGS[name]))
        beside = self.folder / "config.new"
        beside.write_text(text)
        beside.replace(self.folder / "config.json")
        self.config_name = name

    def do_network(self, step):
        self.watchers[0].client.write({"method": "network/changed", "params": {"online": step["online"]}})

    def do_frontEnd(self, step):
        self.is_published = not self.is_published
        self.publisher.attach() if self.is_published else self.publisher.detach()

    def do_observer(self, step):
        self.is_watched = not self.is_watched
        self.watchers[1].attach() if self.is_watched else self.watchers[1].detach()

    def do_fill(self, step):
        free = os.statvfs(self.store)
        size = max(0, free.f_bavail * free.f_frsize - step["left"])
        with open(self.store / "filler", "ab", buffering=0) as filler:
            try:
                while size > 0:
                    size -= filler.write(bytes(min(size, 1 << 16)))
            except OSError:
                pass  # Somebody was quicker.

    def do_free(self, step=None):
        (self.store / "filler").unlink(missing_ok=True)
