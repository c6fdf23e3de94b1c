"""Sources that change under the reader's hands, that are empty, and clocks that are wrong."""
import json
import os
import threading
import unittest
import zipfile

from harness import Line

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


class MovingSources(Line):
    def send_log(self, path, change):
        """Submits `path` as a log while `change` is called again and again. - Returns the task at its end."""
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        over = threading.Event()

        def keep_changing():
            while not over.is_set():
                change()
        writer = threading.Thread(target=keep_changing)
        writer.start()
        try:
            resources = [{"source": {"paths": [str(path)]}}]
            task = engine.call("task/submit", {"kind": "log", "resources": resources})["task"]
            task = engine.call("task/wait", {"id": task["id"], "timeoutMs": 60_000}, 70)["task"]
        finally:
            over.set()
            writer.join()
        self.assertIn(task["state"], ("sent", "failed"), self.engine_log())
        if task["state"] == "sent":
            self.assert_stored_as_receipts_say(service, task)
        else:
            self.assertEqual(task["failure"]["code"], "sourceChanged", task["failure"])
            self.assertIn(path.name, task["failure"]["message"])
            self.assertEqual(service.posts(), [])
        return task

    def test_B012_a_file_that_grows_while_it_is_read_is_sent_as_it_was_or_named(self):
        path = self.folder / "growing.log"
        path.write_bytes(os.urandom(4 << 20))

        def grow():
            with path.open("ab") as file:
                file.write(b"one more line\n" * 100)
        self.send_log(path, grow)

    def test_B012_a_file_that_shrinks_while_it_is_read_never_hangs(self):
        path = self.folder / "shrinking.log"
        content = os.urandom(4 << 20)
        path.write_bytes(content)

        def shrink():
            path.write_bytes(content)
            os.truncate(path, 1 << 20)
        self.send_log(path, shrink)


class EmptySources(Line):
    def test_B021_an_empty_file_is_a_log_like_any_other_and_no_picture(self):
        empty = self.folder / "empty.log"
        empty.touch()
        engine = self.start_engine(self.config())
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        resources = [{"source": {"paths": [str(empty)]}}]
        task = self.finish(engine, engine.call("task/submit", {"kind": "log", "resources": resources})["task"]["id"])
        with zipfile.ZipFile(task["resources"][0]["url"][len("file://"):]) as archive:
            self.assertEqual([(entry.filename, entry.file_size) for entry in archive.infolist()], [("empty.log", 0)])
        told = json.dumps([task, engine.notifications])
        for word in ("NaN", "Infinity", "null"):
            self.assertNotIn(word, told)
        error = self.refused("invalidSource", engine, "task/submit",
                             {"kind": "message", "resources": [{"source": {"path": str(empty)}}]})
        self.assertEqual((error["data"]["reason"], error["data"]["pointer"]), ("damaged", "/resources/0/source/path"))


class WrongClocks(Line):
    def send_with_clock(self, shift):
        service = self.start_service()
        self.clock = {"LD_PRELOAD": FAKETIME, "FAKETIME": shift, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        engine = self.start_engine(self.config(service))
        task = self.finish(engine, self.submit(engine, "feedPost", self.photos(2))["id"])
        self.assert_stored_as_receipts_say(service, task)
        asked = [entry for entry in service.log() if entry["path"].startswith("/uploads")]
        self.assertLessEqual(len(asked), 2, "at most one more credential request than with a right clock")

    def environment(self):
        return super().environment() | getattr(self, "clock", {})

    def test_B045_a_clock_40_minutes_fast_does_not_matter(self):
        self.send_with_clock("+40m")

    def test_B045_a_clock_40_minutes_slow_does_not_matter(self):
        self.send_with_clock("-40m")


if __name__ == "__main__":
    unittest.main()
