"""What a front end can change, take back and ask about, beside submitting."""
import json
import time
import unittest

from harness import Line

HOUR = 3_600_000


class Updates(Line):
    def later(self, engine, **more):
        return self.submit(engine, "message", self.photos(1), payload={"text": "old"},
                           notBefore=int(time.time() * 1000) + HOUR, **more)

    def test_a_waiting_task_is_sent_with_its_new_payload_when_its_time_is_taken_away(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        task = self.later(engine, key="k")
        updated = engine.call("task/update", {"id": task["id"], "payload": {"text": "new", "n": 12345678901234567890},
                                              "priority": "background", "notBefore": 0})["task"]
        self.assertEqual((updated["priority"], updated["payload"]["text"]), ("background", "new"))
        self.assertNotIn("notBefore", updated)
        self.finish(engine, task["id"])
        delivery = service.posts()[0]["delivery"]
        self.assertEqual(delivery["payload"], {"text": "new", "n": 12345678901234567890})
        self.refused("invalidState", engine, "task/update", {"id": task["id"], "payload": {}})
        again = engine.call("task/submit", {"kind": "message", "key": "k", "payload": {"text": "old"},
                                            "notBefore": task["notBefore"],
                                            "resources": [{"source": {"path": str(self.photos(1)[0])}}]})
        self.assertEqual((again["created"], again["task"]["id"]), (False, task["id"]))

    def test_a_change_survives_a_crash_and_is_told_to_front_ends(self):
        engine = self.start_engine()
        subscription = engine.call("event/subscribe")["subscription"]
        task = self.later(engine)
        engine.call("task/update", {"id": task["id"], "payload": {"text": "new"}})
        told = [note["params"]["task"] for note in engine.notifications
                if note.get("method") == "task/changed" and note["params"]["subscription"] == subscription]
        self.assertEqual(told[-1]["payload"], {"text": "new"})
        engine.kill()
        engine = self.start_engine()
        self.assertEqual(engine.call("task/get", {"id": task["id"]})["task"]["payload"], {"text": "new"})

    def test_a_later_time_holds_a_task_back_and_a_failed_post_is_sent_with_its_new_text(self):
        service = self.start_service()
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 1, "action": "status", "status": 403})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "feedPost", self.photos(1), payload={"text": "old"})
        self.finish(engine, task["id"], "failed")
        engine.call("task/update", {"id": task["id"], "payload": {"text": "new"},
                                    "notBefore": int(time.time() * 1000) + HOUR})
        held = engine.call("task/retry", {"id": task["id"]})["task"]
        self.assertEqual((held["state"], held["waitingFor"]), ("queued", "notBefore"))
        engine.call("task/update", {"id": task["id"], "notBefore": 0})
        self.finish(engine, task["id"])
        self.assertEqual([post["delivery"]["payload"]["text"] for post in service.posts()], ["new"])

    def test_what_can_not_be_changed_is_refused_by_name(self):
        engine = self.start_engine()
        task = engine.call("task/submit", {"kind": "message", "payload": {"text": "x"}, "resources": [], "draft": True})
        task_id = task["task"]["id"]
        for change, pointer in [({"payload": {}}, "/payload"), ({"payload": None}, "/payload"),
                                ({"priority": "urgent"}, "/priority"), ({"notBefore": -1}, "/notBefore"),
                                ({"kind": "avatar"}, "/kind")]:
            with self.subTest(change):
                error = self.refused("invalidParams", engine, "task/update", {"id": task_id, **change})
                self.assertEqual(error["data"]["pointer"], pointer)
        self.refused("notFound", engine, "task/update", {"id": "nobody", "priority": "normal"})


class Logouts(Line):
    def test_nothing_of_the_account_goes_out_after_the_answer_and_the_next_account_sees_nothing_of_it(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 2, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service))
        photo = self.photos(1)
        later = int(time.time() * 1000) + HOUR
        for lane in "ab":
            self.submit(engine, "message", photo, account="A", lane=lane)
        service.wait("PUT", "/objects", "held")
        self.submit(engine, "message", photo, account="A", draft=True)
        for _ in range(3):
            self.submit(engine, "message", photo, account="A", notBefore=later)
        kept = engine.call("task/submit", {"kind": "avatar", "account": "A", "notBefore": later, "key": "k",
                                           "resources": [{"source": {"path": str(photo[0]), "keep": True}}]})["task"]
        engine.call("event/subscribe")
        self.assertEqual(engine.call("account/logout", {"account": "A"}), {"canceled": 7, "removed": 7})
        deleted = [note for note in engine.notifications if note.get("method") == "task/deleted"]
        self.assertEqual(len(deleted), 7)
        self.assertEqual(engine.call("task/list")["tasks"], [])
        self.refused("notFound", engine, "task/get", {"id": kept["id"]})
        for folder in ("exports", "sources"):
            self.wait_until(lambda folder=folder: not list((self.store / folder).iterdir()))
        asked = len(service.log())
        service.faults()
        service.release()
        task = self.submit(engine, "message", photo, account="B")
        self.finish(engine, task["id"])
        self.assertEqual([post["delivery"]["account"] for post in service.posts()], ["B"])
        self.assertEqual([task["account"] for task in engine.call("task/list")["tasks"]], ["B"])
        self.assertNotIn('"A"', json.dumps(service.log()[asked:]))
        self.assertEqual(engine.call("engine/status")["uploads"]["used"], 0)

    def log_out_during_a_delivery(self, service, engine):
        """- Returns the tasks of the account, and the request's id, which waits for the delivery."""
        service.faults({"match": {"method": "POST", "path": "/send"}, "times": 1, "action": "hold"})
        seen = max((each["seq"] for each in service.log()), default=0)
        task, draft = (self.submit(engine, "message", self.photos(1), account="A", draft=draft) for draft in (False, True))
        service.wait("POST", "/send", "held", after=seen)
        engine.last_id += 1
        ask = {"jsonrpc": "2.0", "id": engine.last_id, "method": "account/logout", "params": {"account": "A"}}
        engine.process.stdin.write(json.dumps(ask).encode() + b"\n")
        self.assertEqual(engine.call("task/get", {"id": task["id"]})["task"]["state"], "delivering")
        return task, draft, ask["id"]

    def test_a_delivery_in_the_air_comes_to_its_end_before_its_task_is_forgotten(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        task, _, request = self.log_out_during_a_delivery(service, engine)
        service.release()
        answers = [note for note in engine.notifications if note.get("id") == request]
        answer = answers[0] if answers else engine.message(time.monotonic() + 30)
        self.assertEqual((answer["id"], answer["result"]), (request, {"canceled": 1, "removed": 2}))
        self.assertEqual([post["delivery"]["taskId"] for post in service.posts()], [task["id"]])

    def test_a_crash_before_a_logout_is_done_leaves_everything_as_it_was(self):
        service = self.start_service()
        config = self.config(service)
        engine = self.start_engine(config)
        task, draft, _ = self.log_out_during_a_delivery(service, engine)
        engine.kill()
        service.release()
        engine = self.start_engine(config)
        self.finish(engine, task["id"])
        self.assertEqual(engine.call("task/get", {"id": draft["id"]})["task"]["state"], "draft")
        self.assertEqual(len(service.posts()), 1)

    def test_the_account_may_be_used_again_with_the_same_keys_and_others_are_left_alone(self):
        engine = self.start_engine()
        task = self.submit(engine, "avatar", self.photos(1), account="A", key="k")
        other = self.submit(engine, "avatar", self.photos(1), account="B", key="k")
        for each in (task, other):
            self.finish(engine, each["id"])
        self.assertEqual(engine.call("account/logout", {"account": "A"}), {"canceled": 0, "removed": 1})
        self.assertEqual(engine.call("account/logout", {"account": "A"}), {"canceled": 0, "removed": 0})
        engine.kill()
        engine = self.start_engine()
        self.assertEqual([each["id"] for each in engine.call("task/list")["tasks"]], [other["id"]])
        again = engine.call("task/submit", {"kind": "avatar", "account": "A", "key": "k",
                                            "resources": [{"source": {"path": str(self.photos(1)[0])}}]})
        self.assertTrue(again["created"])


class Descriptions(Line):
    """The OpenRPC document says of the methods what they really take."""

    EXAMPLES = {"string": "x", "integer": 1, "array": [], "object": {}, "boolean": True}

    def test_every_method_and_parameter_is_described_and_no_other(self):
        engine = self.start_engine()
        document = engine.call("rpc.discover")
        self.assertEqual(document["info"]["version"], engine.call("engine/status")["version"])
        methods = {method["name"]: method for method in document["methods"]}
        self.assertEqual(sorted(methods), sorted(engine.call("initialize")["methods"]))
        for name, method in methods.items():
            with self.subTest(name):
                needed = {each["name"]: self.example(document, each["schema"])
                          for each in method["params"] if each["required"]}
                error = self.refused("invalidParams", engine, name, {**needed, "of no use": 1})
                known = error["message"].partition("unknown field")[2].removeprefix("; known: ")
                self.assertEqual(known, ", ".join(each["name"] for each in method["params"]), error)
                for parameter in needed:
                    rest = {key: value for key, value in needed.items() if key != parameter}
                    self.assertEqual(self.refused("invalidParams", engine, name, rest)["data"]["pointer"],
                                     "/" + parameter)

    def test_lists_of_words_are_those_of_the_engine_and_every_reference_leads_somewhere(self):
        engine = self.start_engine()
        document = engine.call("rpc.discover")
        schemas = document["components"]["schemas"]
        for params, name in [({"filter": {"state": ["?"]}}, "state"), ({"filter": {"kind": "?"}}, "kind")]:
            message = self.refused("invalidParams", engine, "task/list", params)["message"]
            self.assertEqual(message.partition("known: ")[2].split(", "), schemas[name]["enum"])
        self.check_references(document, document)

    def test_a_task_has_no_member_that_is_not_described(self):
        engine = self.start_engine()
        schemas = engine.call("rpc.discover")["components"]["schemas"]
        task = self.finish(engine, self.submit(engine, "message", self.photos(1), key="k", payload={"a": 1})["id"])
        self.assertLessEqual(set(task), set(schemas["task"]["properties"]))
        refused = self.refused("invalidParams", engine, "task/list", {"fields": ["id", "status"]})
        self.assertEqual(refused["data"]["pointer"], "/fields/1")
        self.assertEqual(refused["message"].partition("; known: ")[2].split(", "), list(schemas["task"]["properties"]))
        self.assertEqual(set(engine.call("task/list", {"fields": ["state"]})["tasks"][0]), {"id", "state"})
        self.assertLessEqual(set(task["resources"][0]), set(schemas["resource"]["properties"]))

    def check_references(self, document, value):
        if isinstance(value, dict):
            if "$ref" in value:
                place = document
                for part in value["$ref"].removeprefix("#/").split("/"):
                    self.assertIn(part, place, value)
                    place = place[part]
            for each in value.values():
                self.check_references(document, each)
        elif isinstance(value, list):
            for each in value:
                self.check_references(document, each)

    def example(self, document, schema):
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema["enum"][0] if "enum" in schema else self.EXAMPLES[schema["type"]]


if __name__ == "__main__":
    unittest.main()
