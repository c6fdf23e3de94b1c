"""Multipart uploads to a real S3 server (SeaweedFS), over a line and beside an engine that break at chosen moments."""
import unittest

from storage_line import PART, StorageLine  # before what it puts on the path
from storage import SECRET


class Multipart(StorageLine):
    def test_a_large_file_arrives_in_parts_and_no_secret_is_told(self):
        engine = self.start_engine(self.bucket_config(self.weed.address, slots=3))
        task = self.submit_file(engine, 12 << 20)
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        task = self.finish(engine, task["id"])
        self.assertRegex(self.assert_stored(task)["etag"], "^[0-9a-f]{32}-3$")
        self.assert_no_secret(engine, task["id"])
        self.assertNotIn(SECRET.encode(), (self.store / "taskcenter.db").read_bytes())

    def test_a_small_file_is_one_request_and_its_tag_is_its_md5(self):
        proxy = self.proxy()
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 1000)["id"])
        self.assert_stored(task)
        self.assertIs(task["resources"][0]["upload"]["etagMatchesMd5"], True)
        self.assertEqual([entry["method"] for entry in proxy.requests()], ["PUT"])

    def test_B001_B010_after_kill_9_the_same_upload_goes_on_and_only_the_open_part_is_sent_again(self):
        proxy = self.proxy("match=partNumber=3,stall=4000000,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 22 << 20)
        proxy.wait("partNumber=3", passed=4_000_000)
        engine.kill()
        proxy.rules()
        first = proxy.requests("partNumber=")
        proxy.reset()
        engine = self.start_engine(config)
        task = self.finish(engine, task["id"])
        self.assert_stored(task)
        self.assertEqual(proxy.requests("POST /media/" + self.prefix + task["id"] + "/0-")[-1]["path"].count("uploads"), 0)
        again = proxy.requests("partNumber=")
        self.assertEqual(len(again), 3, "parts 3, 4 and 5")
        ids = {entry["path"].split("uploadId=")[1] for entry in first + again}
        self.assertEqual(len(ids), 1)
        passed = sum(entry["passed"] for entry in first + again)
        self.assertLessEqual(passed, task["resources"][0]["receipt"]["size"] + PART)

    def test_kill_9_with_three_connections_costs_a_part_for_each_at_most(self):
        proxy = self.proxy("match=partNumber=4,stall=1000000,times=0")
        config = self.bucket_config(proxy.address, slots=3)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 32 << 20)
        proxy.wait("partNumber=4", passed=1_000_000)
        engine.kill()
        proxy.rules()
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        passed = sum(entry["passed"] for entry in proxy.requests("partNumber="))
        self.assertLessEqual(passed, task["resources"][0]["receipt"]["size"] + 3 * PART)

    def test_a_server_that_dies_and_comes_back_is_gone_on_with(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.submit_file(engine, 17 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        self.weed.kill()
        self.weed.start()
        proxy.rules()
        task = self.finish(engine, task["id"])
        self.assert_stored(task)
        self.assertLessEqual(sum(entry["passed"] for entry in proxy.requests("partNumber=")),
                             task["resources"][0]["receipt"]["size"] + PART)

    def test_B014_an_upload_that_the_server_forgot_begins_anew(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        engine.kill()
        (key, old), = self.weed.open_uploads(self.prefix).items()
        self.weed.request("DELETE", f"/{key}?uploadId={old}")
        proxy.rules()
        proxy.reset()
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("uploads=")), 1)
        complete = proxy.requests("POST")[-1]
        self.assertNotIn(old, complete["path"])
        self.assertEqual(len([entry for entry in proxy.requests("partNumber=") if old not in entry["path"]]), 3)

    def test_B015_a_lost_complete_and_then_no_such_upload_is_success_without_sending_again(self):
        missing = "match=uploadId=,status=404,times=0,body=<Error><Code>NoSuchUpload</Code></Error>"
        proxy = self.proxy("match=POST /media,skip=1,eatreply=1,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("POST", count=2)
        engine.kill()
        # The server has joined the parts, or will have; either way the answer is lost.
        self.gone(self.prefix)
        sent = len(proxy.requests("partNumber="))
        proxy.rules(missing)
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("partNumber=")), sent)
        self.assertTrue(proxy.requests("HEAD"))

    def test_an_error_under_status_200_is_no_success(self):
        proxy = self.proxy("match=POST /media,skip=1,status=200,body=<Error><Code>InternalError</Code></Error>")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("partNumber=")), 3, "only Complete is repeated")

    def test_B017_bytes_of_a_part_that_is_cut_three_times_are_counted_once(self):
        proxy = self.proxy("match=partNumber=2,cut=4000000,times=4")
        engine = self.start_engine(self.bucket_config(proxy.address))
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"])
        size = self.assert_stored(task)["size"]
        told = [note["params"] for note in engine.notifications if note.get("method") == "task/progress"]
        self.assertTrue(told)
        self.assertLessEqual(max(one["bytesDone"] for one in told), size)
        fractions = [one["progress"] for one in told]
        self.assertEqual(fractions, sorted(fractions))

    def test_B051_a_cancel_takes_the_upload_back(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        self.assertEqual(len(self.weed.open_uploads(self.prefix)), 1)
        self.assertEqual(engine.call("task/cancel", {"id": task["id"]})["task"]["state"], "canceled")
        self.gone(self.prefix)
        self.assertEqual(self.weed.keys(self.prefix), [])

    def test_B051_what_could_not_be_taken_back_is_taken_back_after_a_restart(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0", "match=DELETE,status=503,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        engine.call("task/cancel", {"id": task["id"]})
        proxy.wait("DELETE")
        engine.kill()
        self.assertEqual(len(self.weed.open_uploads(self.prefix)), 1)
        proxy.rules()
        self.start_engine(config)
        self.gone(self.prefix)

    def test_B022_a_canceled_upload_to_a_silent_server_gives_its_slot_back(self):
        proxy = self.proxy("match=partNumber=1,stall=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        silent = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=1")
        other = engine.call("task/submit", {"kind": "avatar", "resources": [{"source": {"path": str(self.photos(1)[0])}}]})
        self.assertEqual(engine.call("task/cancel", {"id": silent["id"]})["task"]["state"], "canceled")
        self.finish(engine, other["task"]["id"])

    def test_B066_a_permanent_refusal_is_not_repeated_and_the_upload_is_taken_back(self):
        proxy = self.proxy("match=partNumber=2,status=413,times=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"], "failed")
        self.assertEqual((task["failure"]["code"], task["failure"]["httpStatus"]), ("rejected", 413))
        self.assertEqual(len(proxy.requests("partNumber=2")), 1)
        self.gone(self.prefix)

    def test_a_task_that_uses_up_its_attempts_is_taken_back_and_a_retry_begins_anew(self):
        proxy = self.proxy("match=partNumber=2,status=500,times=0")
        retry = {"resourceRetries": 0, "baseMs": 20, "capMs": 20, "attempts": 2, "networkProbeMs": 50}
        engine = self.start_engine(self.bucket_config(proxy.address, retry=retry))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"], "failed")
        self.gone(self.prefix)
        proxy.rules()
        engine.call("task/retry", {"id": task["id"]})
        self.assert_stored(self.finish(engine, task["id"]))


if __name__ == "__main__":
    unittest.main()
