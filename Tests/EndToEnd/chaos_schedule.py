"""What happens in a chaos run, drawn from a seed: which sends, and between them what breaks, who leaves and who meddles."""
import random

KINDS = ("feedPost", "feedVideo", "feedAudio", "message", "message", "chatVideo", "avatar", "log", "log")
DESTINATIONS = ("service", "office", "office", "issued", "issued", "bucket", "bucket", "local", "app")
# What is done to a request: what a rule of flaky_proxy.py says behind `match`, of requests that carry bytes.
MATCHES = {"service": ("PUT /objects", "POST /send", "POST /uploads", ""), "office": ("POST /send", "POST /uploads", ""),
           "weed": ("partNumber=", "PUT /media", "POST /media", "uploads=", "uploadId=", "HEAD", "DELETE", "GET", ""),
           "tus": ("PATCH", "POST /files", "HEAD", "DELETE", ""), "files": ("",)}
VERBS = ("cancel", "cancel", "cancel", "pause", "pause", "resume", "retry", "delete", "start")


class Schedule:
    """- Parameter sends: about how many tasks; as many troubles and two thirds as many verbs come between them.
    - Parameter has_disk: whether the disk can be filled."""

    def __init__(self, seed, sends, has_disk, weed_deaths=1):
        self.random = random.Random(seed)
        self.has_disk, self.weed_deaths = has_disk, weed_deaths
        self.up_again = []
        # Sends come in bursts, so that what breaks finds something to break.
        names = ["burst"] * (sends // 3) + ["trouble"] * sends + ["verb"] * (2 * sends // 3)
        self.random.shuffle(names)
        names = [each for name in ["burst", *names] for each in (["submit"] * 3 if name == "burst" else [name])]
        self.steps = [{"do": "rule", "what": line, "rules": [self.rule(line) for _ in range(3)]} for line in MATCHES]
        self.submitted = 0
        for name in names:
            self.steps.append(self.step(name))
            due = [each for each in self.up_again if each[0] <= len(self.steps)]
            self.up_again = [each for each in self.up_again if each not in due]
            self.steps += [{"do": what, "what": name} for _, what, name in due]

    def step(self, name):
        draw = self.random
        if name == "submit":
            manner = draw.choice(("waits", "waits", "goesOn", "withdraws"))
            return {"do": "submit", "number": self.next_number(), "manner": manner, **self.send()}
        if name == "verb":
            return {**self.when(), "do": draw.choice(VERBS), "which": draw.random() ** 2,
                    "manner": draw.choice(("waits", "goesOn"))}
        return {**self.when(), **self.trouble()}

    def next_number(self):
        self.submitted += 1
        return self.submitted - 1

    def when(self):
        """After how much of what is seen to happen."""
        draw = self.random
        if draw.random() < 0.3:
            line = draw.choice(("service", "weed", "weed", "tus"))
            return {"after": "bytes", "line": line, "count": int(draw.choice((2_000, 50_000, 1e6, 4e6)) * draw.random())}
        return {"after": "changes", "count": int(draw.expovariate(1 / 5))}

    def send(self):
        draw = self.random
        kind = draw.choice(KINDS)
        send = {"kind": kind, "destination": draw.choice(DESTINATIONS), "account": draw.choice(("me", "me", "other")),
                "lane": draw.choice(("a", "b", "c")), "draft": draw.random() < 0.08,
                "partial": draw.choice(("fail", "fail", "publish"))}
        sources = {"feedPost": draw.randrange(1, 5), "feedVideo": 1, "feedAudio": 2, "message": draw.randrange(0, 4),
                   "chatVideo": 1, "avatar": 1, "log": 1}[kind]
        send["sources"] = [self.source(kind, number) for number in range(sources)]
        return send

    def source(self, kind, number):
        draw = self.random
        if kind == "log":
            return {"is": "log", "size": draw.choice((20_000, 3 << 20, 6 << 20, 12 << 20))}
        what = {"feedVideo": "clip", "chatVideo": "clip", "feedAudio": ("sound", "cover")[number % 2]}.get(kind, "photo")
        if kind == "message" and draw.random() < 0.25:
            what = "clip"
        source = {"is": what, "which": draw.randrange(4), "how": draw.choice(("shared", "fresh", "fresh", "keep", "url"))}
        if what in ("clip", "photo") and draw.random() < 0.3:
            source["derive"] = ["poster"] if what == "clip" else ["thumbnail"]
        return source

    def trouble(self):
        draw = self.random
        kinds = {"kill": 20, "close": 3, "killWorker": 5, "rule": 40, "killServer": 5, "lineDown": 4, "config": 5, "network": 3,
                 "frontEnd": 6, "observer": 6, "cutDownload": 3, "fill": 5 if self.has_disk else 0}
        name = draw.choices(list(kinds), kinds.values())[0]
        steps = len(self.steps) + draw.randrange(2, 7)
        if name == "killServer":
            server = draw.choice(("service", "tus", "weed"))
            if server == "weed" and self.weed_deaths == 0:
                server = "tus"
            self.weed_deaths -= server == "weed"
            self.up_again.append((steps, "startServer", server))
            return {"do": name, "what": server}
        if name == "lineDown":
            line = draw.choice(list(MATCHES))
            self.up_again.append((steps, "lineUp", line))
            return {"do": name, "what": line}
        if name == "fill":
            self.up_again.append((steps, "free", ""))
            return {"do": name, "left": draw.choice((0, 0, 4096, 100_000, 1 << 20))}
        if name == "rule":
            line = draw.choice(("service", "office", "weed", "weed", "tus", "files"))
            return {"do": name, "what": line, "rules": [self.rule(line) for _ in range(draw.randrange(2, 6))]}
        if name == "config":
            return {"do": name, "what": draw.choice(("slots", "rate", "retry", "broken", "usual"))}
        if name == "network":
            return {"do": name, "online": draw.random() < 0.5}
        if name == "cutDownload":
            return {"do": name, "at": draw.randrange(1, 60_000)}
        return {"do": name}

    def rule(self, line):
        draw = self.random
        size = draw.choice((0, 1, 1000, 20_000, 500_000, 3_000_000))
        what = draw.choice((f"cut={size}", f"reset={size}", f"stall={size}", "eatreply=1", "eatreply=1", "eatreply=1",
                            "early=503", "status=500", "status=503,retry_after=1", "delay=0.3", f"corrupt={size}"))
        if draw.random() < 0.1:
            return f"refuse=1,times={draw.randrange(1, 5)}"
        return f"match={draw.choice(MATCHES[line])},skip={draw.randrange(2)},times={draw.randrange(1, 4)},{what}"
