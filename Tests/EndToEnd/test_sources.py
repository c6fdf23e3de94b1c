"""Sources that are not just a file at a path: fetched from a URL, or kept as a private copy."""
import http.client
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from harness import HERE, Line


class FileServer:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, str(HERE.parent / "Servers" / "file_server.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, body)
        content = connection.getresponse().read()
        connection.close()
        return content

    def set(self, **values):
        self.call("POST", "/_set", json.dumps(values))

    def serve(self, path):
        self.set(text=Path(path).read_bytes().decode("latin-1"))

    def log(self):
        return json.loads(self.call("GET", "/_log"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class FromURL(Line):
    def setUp(self):
        super().setUp()
        self.server = FileServer()
        self.addCleanup(self.server.stop)
        self.photo = self.photos(1)[0]
        self.server.serve(self.photo)

    def submit_url(self, engine, kind="message", path="/a/my%20photo.jpg?token=secret", role="image", **more):
        resource = {"source": {"url": self.server.url + path}} | ({"role": role} if role else {})
        return engine.call("task/submit", {"kind": kind, "resources": [resource], **more})["task"]

    def stored(self):
        return sorted(path.name for path in (self.store / "sources").iterdir())

    def test_a_photo_is_fetched_sent_and_its_store_file_is_gone(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        task = self.finish(engine, self.submit_url(engine)["id"])
        self.assert_stored_as_receipts_say(service, task)
        self.assertEqual(task["resources"][0]["name"], "my photo.jpg")
        self.assertEqual(self.stored(), [])
        told = json.dumps(task) + json.dumps(service.posts()) + self.engine_log()
        self.assertNotIn("secret", told)
        self.assertEqual(self.server.log()[0]["path"], "/a/my%20photo.jpg?token=secret")

    def test_a_cut_is_gone_on_with_and_a_kill_too(self):
        size = self.photo.stat().st_size
        self.server.set(cut=size // 2)
        engine = self.start_engine(self.config(retry={"resourceRetries": 0, "baseMs": 600_000, "capMs": 600_000}))
        task = self.submit_url(engine)["id"]
        self.wait_until(lambda: engine.call("task/get", {"id": task})["task"]["state"] == "retrying")
        engine.kill()
        engine = self.start_engine(self.config())
        engine.call("task/retry", {"id": task})
        self.finish(engine, task)
        self.assertEqual([entry["status"] for entry in self.server.log()], [200, 206])
        self.assertEqual(self.stored(), [])

    def test_a_refusal_is_typed_and_a_retry_fetches_again(self):
        engine = self.start_engine(self.config())
        for status, code in ((404, "sourceMissing"), (403, "sourceUnreadable")):
            self.server.set(status=status)
            task = self.finish(engine, self.submit_url(engine)["id"], "failed")
            self.assertEqual((task["failure"]["code"], task["failure"]["resource"]), (code, 0))
        self.server.set(status=200)
        engine.call("task/retry", {"id": task["id"]})
        self.finish(engine, task["id"])

    def test_what_turns_out_to_be_something_else_fails_by_name(self):
        self.server.set(text="%PDF-1.4 no picture")
        engine = self.start_engine(self.config())
        task = self.finish(engine, self.submit_url(engine, "avatar", role=None)["id"], "failed")
        self.assertEqual((task["failure"]["code"], task["failure"]["resource"]), ("unsupported", 0))
        self.assertEqual(self.stored(), [])

    def test_a_file_larger_than_allowed_is_refused(self):
        engine = self.start_engine(self.config(sources={"maxBytes": 1_000}))
        self.assertEqual(self.finish(engine, self.submit_url(engine)["id"], "failed")["failure"]["code"], "tooLarge")

    def test_bad_shapes_are_refused_at_submit_with_a_pointer(self):
        engine = self.start_engine(self.config())
        for resource, pointer in [
                ({"source": {"url": "ftp://h/a"}, "role": "image"}, "/resources/0/source/url"),
                ({"source": {"url": "http://u:p@h/a"}, "role": "image"}, "/resources/0/source/url"),
                ({"source": {"url": "http://h/a"}}, "/resources/0/role"),
                ({"source": {"url": "http://h/a", "path": "/a"}, "role": "image"}, "/resources/0/source/url")]:
            error = self.refused("invalidParams", engine, "task/submit", {"kind": "message", "resources": [resource]})
            self.assertEqual(error["data"]["pointer"], pointer, resource)

    def test_a_cancel_while_it_is_fetched_leaves_nothing(self):
        self.server.set(cut=self.photo.stat().st_size // 2)
        engine = self.start_engine(self.config(retry={"resourceRetries": 0, "baseMs": 600_000, "capMs": 600_000}))
        task = self.submit_url(engine)["id"]
        self.wait_until(lambda: engine.call("task/get", {"id": task})["task"]["state"] == "retrying")
        self.assertNotEqual(self.stored(), [])
        engine.call("task/cancel", {"id": task})
        self.assertEqual(self.stored(), [])


class Kept(Line):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "mine.jpg"
        self.file.write_bytes(self.photos(1)[0].read_bytes())

    def keep(self, engine, **more):
        resources = [{"source": {"path": str(self.file), "keep": True}}]
        return engine.call("task/submit", {"kind": "message", "resources": resources, **more})

    def stored(self):
        return list((self.store / "sources").iterdir())

    def test_a_copy_is_immune_to_change_and_loss(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        task = self.keep(engine, draft=True)["task"]
        self.assertEqual(task["resources"][0]["source"], {"path": str(self.file), "keep": True})
        copies = self.stored()
        self.assertEqual([copy.stat().st_mode & 0o777 for copy in copies], [0o600])
        self.file.unlink()
        engine.kill()
        engine = self.start_engine(self.config(service))
        engine.call("task/start", {"id": task["id"]})
        task = self.finish(engine, task["id"])
        self.assert_stored_as_receipts_say(service, task)
        self.assertEqual(self.stored(), [])

    def test_a_submit_that_is_refused_or_repeated_keeps_no_copy(self):
        engine = self.start_engine(self.config())
        first = self.keep(engine, key="k", draft=True)
        self.assertTrue(first["created"])
        self.assertFalse(self.keep(engine, key="k", draft=True)["created"])
        self.assertEqual(len(self.stored()), 1)
        self.refused("keyConflict", engine, "task/submit", {
            "kind": "message", "key": "k", "resources": [{"source": {"path": str(self.file), "keep": True}}]})
        self.assertEqual(len(self.stored()), 1)
        engine.call("task/delete", {"id": first["task"]["id"]})
        self.assertEqual(self.stored(), [])

    def test_a_start_sweeps_what_no_task_owns(self):
        engine = self.start_engine(self.config())
        self.keep(engine, draft=True)
        (self.store / "sources" / "orphan").write_bytes(b"x")
        engine.kill()
        engine = self.start_engine(self.config())
        engine.call("engine/status")
        self.assertEqual(len(self.stored()), 1)


if __name__ == "__main__":
    unittest.main()
