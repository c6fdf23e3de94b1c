"""Being gentle with servers: Retry-After for a whole host, a rate, a config that is read again, proxies, TLS."""
import json
import os
import signal
import subprocess
import threading
import unittest
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import HERE, Line, make_photo  # before what it puts on the path
from json_service import JSONService


class HeldHosts(Line):
    """B065: a host that asks to be left alone is left alone by every task."""

    def puts(self, service):
        return [entry for entry in service.log() if entry["method"] == "PUT"]

    def test_B065_one_wish_holds_all_tasks_and_gives_their_slots_back(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 1, "action": "status", "status": 429, "retryAfter": 600})
        engine = self.start_engine(self.config(service, uploads={"slots": 1}))
        tasks = [self.submit(engine, "message", self.photos(1), lane=f"l{number}")["id"] for number in range(5)]
        for task in tasks:
            self.wait_until(lambda: engine.call("task/get", {"id": task})["task"].get("waitingFor") == "host")
        self.assertEqual(len(self.puts(service)), 1)
        found = [engine.call("task/get", {"id": task})["task"] for task in tasks]
        for task in found:
            self.assertEqual(task["state"], "retrying")
            self.assertGreater(task["nextAttemptAt"] - task["updatedAt"], 500_000)
        self.assertEqual(engine.call("engine/status")["uploads"], {"used": 0, "limit": 1})
        # Another host is served meanwhile, from the only slot.
        local = self.submit(engine, "avatar", self.photos(1), destination="local")
        self.finish(engine, local["id"])
        # A new engine keeps to it also for new tasks.
        engine.kill()
        engine = self.start_engine(self.config(service, uploads={"slots": 1}))
        late = self.submit(engine, "message", self.photos(1), lane="late")["id"]
        self.wait_until(lambda: engine.call("task/get", {"id": late})["task"].get("waitingFor") == "host")
        self.assertEqual(len(self.puts(service)), 1)

    def test_a_short_wish_is_waited_for_and_then_everything_goes(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 1, "action": "status", "status": 503, "retryAfter": 1})
        engine = self.start_engine(self.config(service))
        for task in [self.submit(engine, "message", self.photos(1), lane=f"l{number}") for number in range(3)]:
            self.finish(engine, task["id"])
        entries = self.puts(service)
        self.assertEqual(len(entries), 4)


class Reloading(Line):
    def reload(self, engine):
        os.kill(engine.process.pid, signal.SIGHUP)

    def test_a_broken_config_changes_nothing_and_is_told(self):
        config = self.config()
        engine = self.start_engine(config)
        self.assertEqual(engine.call("engine/status")["uploads"]["limit"], 3)
        good = config.read_text()
        config.write_text(json.dumps({"uploads": {"slots": 0}}))
        self.reload(engine)
        self.wait_until(lambda: engine.call("engine/status")["notices"])
        self.assertIn("/uploads/slots", engine.call("engine/status")["notices"][0])
        self.assertIn("/uploads/slots", self.engine_log())
        self.assertEqual(engine.call("engine/status")["uploads"]["limit"], 3)
        config.write_text(json.dumps(json.loads(good) | {"uploads": {"slots": 7}}))
        self.reload(engine)
        self.wait_until(lambda: engine.call("engine/status")["uploads"]["limit"] == 7)
        self.assertEqual(engine.call("engine/status")["notices"], [])

    def test_the_rate_can_be_lifted_while_a_file_goes_up(self):
        service = self.start_service()
        config = self.config(service, uploads={"bytesPerSecond": 1_024})
        engine = self.start_engine(config)
        task = self.submit(engine, "message", self.photos(1))
        service.wait("PUT", "/objects", "started")
        self.assertEqual(engine.call("task/get", {"id": task["id"]})["task"]["state"], "uploading")
        self.config(service)
        self.reload(engine)
        self.finish(engine, task["id"])

    def test_a_destination_that_was_added_can_be_used(self):
        config = self.config()
        engine = self.start_engine(config)
        service = self.start_service()
        self.config(service)
        self.reload(engine)
        # Only when the new config counts is the destination known.
        self.wait_until(lambda: "read again" in self.engine_log())
        self.finish(engine, self.submit(engine, "message", self.photos(1), destination="prod")["id"])
        self.assertEqual(len(service.posts()), 1)


class ForwardProxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []

    def log_message(self, *arguments):
        pass

    def forward(self):
        ForwardProxy.seen.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "proxy-connection")}
        request = urllib.request.Request(self.path, data=body, headers=headers, method=self.command)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            answer = opener.open(request)
        except urllib.error.HTTPError as error:
            answer = error
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = forward


class Proxies(Line):
    extra = {}

    def environment(self):
        return super().environment() | self.extra

    def setUp(self):
        super().setUp()
        ForwardProxy.seen.clear()
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), ForwardProxy)
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.addCleanup(lambda: (proxy.shutdown(), proxy.server_close()))
        self.proxy = f"http://127.0.0.1:{proxy.server_port}"

    def send(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        self.finish(engine, self.submit(engine, "message", self.photos(1))["id"])
        return service

    def test_a_proxy_of_the_environment_is_used(self):
        self.extra = {"http_proxy": self.proxy}
        service = self.send()
        self.assertEqual([line.split()[0] for line in ForwardProxy.seen], ["POST", "PUT", "POST"])
        self.assertTrue(all(line.split()[1].startswith(service.url) for line in ForwardProxy.seen), ForwardProxy.seen)

    def test_no_proxy_is_obeyed(self):
        self.extra = {"http_proxy": self.proxy, "no_proxy": "127.0.0.1"}
        self.send()
        self.assertEqual(ForwardProxy.seen, [])


class Nginx(Line):
    """Against nginx as it comes, with a certificate authority of our own."""

    def setUp(self):
        super().setUp()
        self.nginx = self.folder / "nginx"
        process = subprocess.Popen(["bash", HERE.parent / "Servers" / "start-nginx.sh", self.nginx], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: (process.stdin.close(), process.wait(), process.stdout.close()))
        words = process.stdout.readline().split()
        self.assertEqual(words[:1], ["ready"])
        self.plain, self.tls = f"http://localhost:{words[1]}", f"https://localhost:{words[2]}"

    def credentials(self, base, place):
        """A service that hands out places of nginx, and takes every delivery."""
        def answer(order, path):
            if path == "/send":
                return {"id": "1"}
            return {"uploads": [{"index": one["index"], "protocol": "put", "publicUrl": f"{base}/{place}",
                                 "url": f"{base}/{place}?token=secret", "headers": {"Authorization": "Bearer secret"}}
                                for one in order["resources"]]}

        service = JSONService(answer)
        self.addCleanup(service.stop)
        return service.url

    def send(self, base, place, state="sent", **sections):
        url = self.credentials(base, place)
        config = {"retry": {"resourceRetries": 1, "baseMs": 20, "capMs": 100, "attempts": 2, "networkProbeMs": 50},
                  "destinations": {"nginx": {"credential": {"type": "http", "url": url + "/uploads"},
                                             "delivery": {"type": "http", "url": url + "/send"}}},
                  "accounts": {"default": {"destination": "nginx"}}} | sections
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        engine = self.start_engine(path)
        task = self.finish(engine, self.submit(engine, "feedPost", self.photos(1))["id"], state)
        self.assertNotIn("secret", json.dumps(task))
        self.assertNotIn("secret", self.engine_log())
        engine.kill()
        return task

    def stored(self, name):
        return (self.nginx / "store" / name).read_bytes()

    def test_https_works_with_the_authority_named_in_the_config(self):
        task = self.send(self.tls, "put/a", uploads={"caFile": str(self.nginx / "ca.crt")})
        self.assertEqual(len(self.stored("a")), task["resources"][0]["receipt"]["size"])

    def test_an_unknown_authority_fails_for_good_and_says_what_to_do(self):
        failure = self.send(self.tls, "put/a", "failed")["failure"]
        self.assertEqual((failure["code"], failure["remedy"]), ("tlsFailed", "needsUser"))
        self.assertIn("uploads.caFile", failure["message"])
        self.assertFalse((self.nginx / "store" / "a").exists())

    def test_redirects_are_followed_with_the_body(self):
        for status in (307, 308):
            task = self.send(self.plain, f"moved{status}/b{status}")
            self.assertEqual(len(self.stored(f"b{status}")), task["resources"][0]["receipt"]["size"])

    def test_B066_a_413_is_permanent_and_asked_once(self):
        big = make_photo(self.folder / "big.jpg", 3000, 3000, seed=9)
        self.photos = lambda count: [big]
        failure = self.send(self.plain, "small/c", "failed")["failure"]
        self.assertEqual((failure["code"], failure["httpStatus"]), ("rejected", 413))
        lines = [line for line in (self.nginx / "access.log").read_text().splitlines() if "PUT /small/c" in line]
        self.assertEqual(len(lines), 1)

    def test_a_503_with_a_wish_is_waited_for(self):
        failure = self.send(self.plain, "busy/d", "failed", retry={"resourceRetries": 1, "baseMs": 20, "attempts": 2})
        self.assertEqual(failure["failure"]["code"], "attemptsExhausted")
        lines = [line for line in (self.nginx / "access.log").read_text().splitlines() if "PUT /busy/d" in line]
        self.assertEqual(len(lines), 2)


if __name__ == "__main__":
    unittest.main()
