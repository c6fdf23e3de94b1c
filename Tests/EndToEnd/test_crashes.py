"""Kill -9 at chosen moments of the line, start again: everything ends sent, once, with the right bytes."""
import json
import time
import unittest

from harness import EngineProcess, Line, RemoteError, TOKEN  # noqa: F401


class Crashes(Line):
    def crash(self, service, engine, wait, count=1):
        """Kills the engine when the service has seen `wait`, lets the service go on, and starts the engine again."""
        service.wait(*wait, count=count)
        engine.kill()
        service.faults()
        service.release()
        return self.start_engine(self.config(service))

    def kill_at(self, rule, wait, photos=3):
        service = self.start_service()
        service.faults(rule)
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "feedPost", self.photos(photos), payload={"text": "hello"})
        engine = self.crash(service, engine, wait)
        task = self.finish(engine, task["id"])
        delivery = self.assert_stored_as_receipts_say(service, task)
        self.assertEqual([resource["url"] for resource in delivery["resources"]],
                         [resource["url"] for resource in task["resources"]])
        return service, engine, task

    def test_a_kill_while_the_credential_is_asked_for(self):
        self.kill_at({"match": {"method": "POST", "path": "/uploads"}, "action": "hold", "at": "start"},
                     ("POST", "/uploads", "held"))

    def test_a_kill_in_the_middle_of_an_upload(self):
        self.kill_at({"match": {"method": "PUT"}, "action": "stall", "bytes": 20_000}, ("PUT", "/objects", "held"))

    def test_a_kill_after_an_upload_was_stored_and_before_its_answer(self):
        self.kill_at({"match": {"method": "PUT"}, "action": "hold", "at": "answer"}, ("PUT", "/objects", "held"))

    def test_a_kill_before_the_delivery_is_accepted(self):
        self.kill_at({"match": {"method": "POST", "path": "/send"}, "action": "hold", "at": "start"},
                     ("POST", "/send", "held"))

    def test_a_kill_after_the_delivery_was_accepted_and_before_its_answer(self):
        service, _, task = self.kill_at({"match": {"method": "POST", "path": "/send"}, "action": "hold", "at": "answer"},
                                        ("POST", "/send", "held"))
        keys = {entry["headers"].get("idempotency-key", entry["headers"].get("Idempotency-Key"))
                for entry in service.log() if entry["path"].startswith("/send")}
        self.assertEqual(keys, {task["id"]})

    def test_B078_no_local_path_is_ever_delivered(self):
        service, _, task = self.kill_at({"match": {"method": "PUT"}, "skip": 1, "action": "stall", "bytes": 20_000},
                                        ("PUT", "/objects", "held"), photos=2)
        text = json.dumps(service.posts())
        for word in ("file:", str(self.folder), str(self.photos(1)[0].parent)):
            self.assertNotIn(word, text)
        self.assertEqual(len(service.posts()[0]["delivery"]["resources"]), 2)

    def test_B002_a_dead_engine_keeps_no_slot(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 2, "action": "stall", "bytes": 20_000})
        config = self.config(service, uploads={"slots": 2})
        engine = self.start_engine(config)
        photos = self.photos(3)
        tasks = [self.submit(engine, "message", [photo], lane=f"l{number}") for number, photo in enumerate(photos)]
        service.wait("PUT", "/objects", "held", count=2)
        engine.kill()
        service.faults()
        service.release()
        engine = self.start_engine(self.config(service, uploads={"slots": 2}))
        for task in tasks:
            self.finish(engine, task["id"])
        status = engine.call("engine/status")
        self.assertEqual((status["uploads"], status["exports"]), ({"used": 0, "limit": 2}, {"used": 0, "limit": 1}))

    def test_B076_the_order_of_submit_stays_also_after_a_crash(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT", "path": "/objects"}, "skip": 4, "action": "hold", "at": "answer"})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "feedPost", self.photos(9))
        engine = self.crash(service, engine, ("PUT", "/objects", "held"))
        task = self.finish(engine, task["id"])
        delivery = self.assert_stored_as_receipts_say(service, task)
        self.assertEqual([resource["index"] for resource in delivery["resources"]], list(range(9)))
        self.assertEqual([resource["name"] for resource in delivery["resources"]], [f"{n}.jpg" for n in range(9)])


class Answers(Line):
    def test_B006_an_answer_that_is_lost_makes_no_second_post(self):
        service = self.start_service()
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 1, "action": "reset_after_store"})
        engine = self.start_engine(self.config(service))
        task = self.finish(engine, self.submit(engine, "feedPost", self.photos(1))["id"])
        self.assertEqual(len(service.posts()), 1)
        self.assertEqual(task["result"]["remoteId"], service.posts()[0]["id"])
        calls = [entry for entry in service.log() if entry["path"].startswith("/send")]
        self.assertEqual(len(calls), 2)

    def test_without_network_it_waits_and_uses_up_no_attempt(self):
        service = self.start_service()
        config = self.config(service)
        service.stop(True)
        engine = self.start_engine(config)
        engine.call("event/subscribe")
        task = self.submit(engine, "message", self.photos(1))
        waits = 0
        while waits < 10:
            seen = engine.message(time.monotonic() + 60).get("params", {}).get("task", {})
            waits += seen.get("waitingFor") == "network"
            self.assertLessEqual(seen.get("attempt", 0), 1)
        self.assertEqual(seen["failure"]["code"], "unreachable")
        self.assertEqual(engine.call("task/cancel", {"id": task["id"]})["task"]["state"], "canceled")

    def test_one_credential_request_serves_all_resources(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        self.finish(engine, self.submit(engine, "feedPost", self.photos(4))["id"])
        asked = [entry for entry in service.log() if entry["path"].startswith("/uploads")]
        self.assertEqual(len(asked), 1)

    def test_a_service_that_is_busy_is_asked_again_and_a_refusal_is_final(self):
        service = self.start_service()
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 2, "action": "status", "status": 503})
        engine = self.start_engine(self.config(service))
        task = self.finish(engine, self.submit(engine, "message", self.photos(1))["id"])
        self.assertNotIn("failure", task)
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 1, "action": "status", "status": 403,
                        "code": "blocked"})
        task = self.finish(engine, self.submit(engine, "message", self.photos(1))["id"], "failed")
        self.assertEqual(task["failure"]["code"], "blocked")
        engine.call("task/retry", {"id": task["id"]})
        self.assertNotIn("failure", self.finish(engine, task["id"]))

    def test_B005_what_failed_can_be_resent_or_deleted_after_a_restart(self):
        service = self.start_service()
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 2, "action": "status", "status": 422,
                        "code": "notMember"})
        engine = self.start_engine(self.config(service))
        tasks = [self.submit(engine, "message", self.photos(1), lane=lane)["id"] for lane in ("a", "b")]
        for task in tasks:
            self.finish(engine, task, "failed")
        engine.kill()
        engine = self.start_engine(self.config(service))
        self.assertEqual(engine.call("task/retry", {"id": tasks[0]})["task"]["state"], "queued")
        self.finish(engine, tasks[0])
        self.assertEqual(engine.call("task/delete", {"id": tasks[1]}), {})
        self.refused("notFound", engine, "task/delete", {"id": tasks[1]})
        self.assertEqual(list((self.store / "exports").iterdir()), [])

    def test_a_cancel_stops_an_upload_and_nothing_is_delivered(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "feedPost", self.photos(2))
        service.wait("PUT", "/objects", "held")
        self.assertEqual(engine.call("task/cancel", {"id": task["id"]})["task"]["state"], "canceled")
        self.refused("invalidState", engine, "task/cancel", {"id": task["id"]})
        service.faults()
        service.release()
        self.finish(engine, self.submit(engine, "feedPost", self.photos(1))["id"])
        self.assertEqual(len(service.posts()), 1)
        self.assertEqual(list((self.store / "exports").iterdir()), [])

    def test_a_cancel_that_comes_too_late_says_so(self):
        service = self.start_service()
        service.faults({"match": {"method": "POST", "path": "/send"}, "action": "hold", "at": "answer"})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "message", [], payload={"text": "x"})
        service.wait("POST", "/send", "held")
        engine.call("event/subscribe", {"filter": {"ids": [task["id"]]}})
        cancel = {"jsonrpc": "2.0", "id": "cancel", "method": "task/cancel", "params": {"id": task["id"]}}
        engine.process.stdin.write(json.dumps(cancel).encode() + b"\n")
        deadline = time.monotonic() + 30
        while engine.message(deadline).get("method") != "task/changed":
            pass  # The change tells that the cancel is saved and waits for the outcome.
        service.release()
        answer = engine.message(deadline)
        while answer.get("id") != "cancel":
            answer = engine.message(deadline)
        self.assertEqual(answer["result"]["task"]["state"], "sent")


if __name__ == "__main__":
    unittest.main()
