"""tus with a whole engine: kill -9, cancel, and progress where an upload begins anew."""
import http.client
import json
import unittest

from test_upload_matrix import PART, PROTOCOLS, IssuingLine

TUS = next(one for one in PROTOCOLS if one.is_tus)


class Tus(IssuingLine):
    def uploads(self):
        return sorted(path.name for path in (self.folder / "tus").glob("*.json"))

    def set_server(self, **values):
        connection = http.client.HTTPConnection(self.tus_server.address)
        connection.request("POST", "/_set", json.dumps(values))
        connection.getresponse().read()
        connection.close()

    def test_kill_9_costs_one_chunk_at_most(self):
        path = self.open_line(TUS, "match=PATCH,skip=2,stall=4000000,times=0")
        engine = self.start_engine(path)
        task = self.submit_file(engine, 4 * PART)["id"]
        self.line.wait("PATCH", passed=4_000_000, count=3)
        engine.kill()
        self.line.rules()
        engine = self.start_engine(path)
        task = self.finish(engine, task)
        size = task["resources"][0]["receipt"]["size"]
        self.assertEqual(len(self.stored(task["id"])), size)
        self.assertLessEqual(self.line.stats()["body_bytes"], size + PART)
        self.assertEqual(len(self.line.requests("POST /files")), 1)

    def test_B051_a_cancel_takes_the_upload_back_also_after_a_restart(self):
        path = self.open_line(TUS, "match=PATCH,skip=1,stall=1000000,times=0", "match=DELETE,status=503,times=0")
        engine = self.start_engine(path)
        task = self.submit_file(engine, 3 * PART)["id"]
        self.line.wait("PATCH", passed=1_000_000, count=2)
        self.assertEqual(engine.call("task/cancel", {"id": task})["task"]["state"], "canceled")
        self.line.wait("DELETE")
        engine.kill()
        self.assertEqual(len(self.uploads()), 1)
        self.line.rules()
        self.start_engine(path)
        self.wait_until(lambda: self.uploads() == [])

    def test_B051_a_logout_takes_the_upload_back_and_leaves_nothing_to_go_on_with(self):
        path = self.open_line(TUS, "match=PATCH,skip=1,stall=1000000,times=0")
        engine = self.start_engine(path)
        self.submit_file(engine, 3 * PART)
        self.line.wait("PATCH", passed=1_000_000, count=2)
        self.assertEqual(engine.call("account/logout", {"account": "default"}), {"canceled": 1, "removed": 1})
        self.line.rules()
        self.wait_until(lambda: self.uploads() == [])
        engine.kill()
        self.assertEqual(self.start_engine(path).call("engine/status")["tasks"], {})

    def test_B018_progress_never_falls_where_an_upload_begins_anew(self):
        path = self.open_line(TUS)
        engine = self.start_engine(path)
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        self.set_server(extensions="creation")
        self.line.rules("match=PATCH,skip=2,early=410", "match=HEAD,early=410")
        task = self.finish(engine, self.submit_file(engine, 3 * PART)["id"])
        size = task["resources"][0]["receipt"]["size"]
        self.assertEqual(len(self.line.requests("POST /files")), 2)
        told = [note["params"] for note in engine.notifications if note.get("method") == "task/progress"]
        self.assertTrue(told)
        self.assertLessEqual(max(one["bytesDone"] for one in told), size)
        fractions = [one["progress"] for one in told]
        self.assertEqual(fractions, sorted(fractions))


if __name__ == "__main__":
    unittest.main()
