"""A front end that issues credentials and publishes by itself: the engine asks it."""
import json
import socket
import time
import unittest

from harness import FAST_RETRY, Line  # before what it puts on the path
from door_client import knock


class FrontEnd(Line):
    def own_config(self):
        path = self.folder / "config.json"
        path.write_text(json.dumps({"retry": FAST_RETRY, "destinations": {
            "app": {"credential": {"type": "frontEnd"}, "delivery": {"type": "frontEnd"}}},
            "accounts": {"default": {"destination": "app"}}}))
        return path

    def attach(self, engine, **capabilities):
        engine.call("initialize", {"capabilities": capabilities or {"deliver": True, "credentials": True}})

    def issue(self, engine, service):
        """Answers `credential/issue` with what the reference service would."""
        request = engine.asked("credential/issue")
        status, _, answer = service.request("POST", "/uploads", request["params"], {"Content-Type": "application/json"})
        self.assertEqual(status, 200, answer)
        engine.answer(request, answer)

    def test_it_is_asked_for_credentials_and_for_the_delivery(self):
        service, engine = self.start_service(), self.start_engine(self.own_config())
        self.attach(engine)
        task = self.submit(engine, "feedPost", self.photos(2), payload={"text": "hi"}, key="k")
        self.issue(engine, service)
        request = engine.asked("delivery/perform")
        body = request["params"]
        self.assertEqual((body["taskId"], body["mode"], body["key"], body["kind"]), (task["id"], "send", "k", "feedPost"))
        self.assertEqual([resource["index"] for resource in body["resources"]], [0, 1])
        engine.answer(request, {"remoteId": "post-1"})
        task = self.finish(engine, task["id"])
        self.assertEqual(task["result"], {"remoteId": "post-1"})

    def test_without_one_the_task_waits_and_goes_on_when_one_attaches(self):
        service, engine = self.start_service(), self.start_engine(self.own_config())
        engine.call("event/subscribe")
        task = self.submit(engine, "message", self.photos(1))
        seen = {}
        while seen.get("waitingFor") != "frontEnd":
            seen = engine.message(time.monotonic() + 60).get("params", {}).get("task", {})
        self.assertEqual((seen["state"], seen["attempt"]), ("retrying", 1))
        self.attach(engine, deliver=["message"], credentials=True)
        self.issue(engine, service)
        engine.answer(engine.asked("delivery/perform"), {})
        self.finish(engine, task["id"])

    def test_a_delivery_without_answer_is_asked_again_as_a_resend(self):
        service, engine = self.start_service(), self.start_engine(self.own_config())
        self.attach(engine)
        task = self.submit(engine, "message", self.photos(1))
        self.issue(engine, service)
        self.assertEqual(engine.asked("delivery/perform")["params"]["mode"], "send")
        engine.kill()
        engine = self.start_engine(self.own_config())
        self.attach(engine)
        request = engine.asked("delivery/perform")
        self.assertEqual((request["params"]["mode"], request["params"]["taskId"]), ("resend", task["id"]))
        engine.answer(request, {"remoteId": "m-1"})
        self.assertEqual(self.finish(engine, task["id"])["result"]["remoteId"], "m-1")

    def test_where_one_goes_without_an_answer_another_that_is_there_is_asked(self):
        engine = self.start_engine(self.own_config())
        self.attach(engine)

        def leave(message):
            if message.get("method") == "delivery/perform":
                other.socket.shutdown(socket.SHUT_RDWR)
        other = knock(self.store / "engine.sock", leave)
        self.addCleanup(other.close)
        other.call("initialize", {"capabilities": {"deliver": True}})
        task = self.submit(engine, "message", [], payload={"text": "x"})
        request = engine.asked("delivery/perform")
        self.assertEqual(request["params"]["mode"], "resend")
        engine.answer(request, {"remoteId": "m-1"})
        self.finish(engine, task["id"])

    def test_its_refusal_is_final_and_its_hiccup_is_not(self):
        service, engine = self.start_service(), self.start_engine(self.own_config())
        self.attach(engine)
        task = self.submit(engine, "message", self.photos(1))
        self.issue(engine, service)
        engine.answer(engine.asked("delivery/perform"), error={"code": 1, "message": "no luck"})
        request = engine.asked("delivery/perform")
        engine.answer(request, error={"code": 1, "message": "they blocked you",
                                      "data": {"code": "blocked", "permanent": True}})
        task = self.finish(engine, task["id"], "failed")
        self.assertEqual((task["failure"]["code"], task["failure"]["message"]), ("blocked", "they blocked you"))

    def test_what_it_says_of_a_failure_is_kept_within_bounds_and_can_be_read_again(self):
        service, engine = self.start_service(), self.start_engine(self.own_config())
        self.attach(engine)
        task = self.submit(engine, "message", self.photos(1))
        self.issue(engine, service)
        for data in ({"retryAfterMs": -5}, {"code": "no word\n"}, {"code": "x" * 1000}):
            engine.answer(engine.asked("delivery/perform"), error={"code": 1, "message": "m" * 100_000, "data": data})
        engine.answer(engine.asked("delivery/perform"),
                      error={"code": 1, "message": "never", "data": {"retryAfterMs": (1 << 63) - 1}})
        self.wait_until(lambda: engine.call("task/get", {"id": task["id"]})["task"].get("waitingFor") == "host")
        engine.kill()
        engine = self.start_engine(self.own_config())
        seen = engine.call("task/get", {"id": task["id"]})["task"]
        self.assertEqual((seen["failure"]["code"], seen["nextAttemptAt"] - seen["updatedAt"]), ("refused", 86_400_000))
        history = engine.call("task/history", {"id": task["id"]})["entries"]
        self.assertLess(len(json.dumps(history)), 10_000)


if __name__ == "__main__":
    unittest.main()
