"""The engine as a front end meets it: sessions, bad input, locks, the embedded default."""
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import unittest
import zipfile

from harness import EngineGone, EngineProcess, Line, PROGRAMS, make_photo


class BadInput(Line):
    def test_each_mistake_is_named_with_its_place_and_nothing_is_stored(self):
        engine = self.start_engine()
        photo = str(self.photos(1)[0])
        text = self.folder / "text.jpg"
        text.write_text("this is no picture")
        empty = self.folder / "empty.jpg"
        empty.touch()
        os.mkfifo(self.folder / "fifo.jpg")
        os.symlink("nowhere", self.folder / "dangling.jpg")

        def source(path):
            return {"source": {"path": str(path)}}

        cases = [
            ({"kind": "feedPost", "resources": [source("/no/such.jpg")]}, "invalidSource", "/resources/0/source/path"),
            ({"kind": "feedPost", "resources": [source(photo), source(self.folder)]}, "invalidSource",
             "/resources/1/source/path"),
            ({"kind": "avatar", "resources": [source(text)]}, "invalidSource", "/resources/0/source/path"),
            ({"kind": "avatar", "resources": [source(empty)]}, "invalidSource", "/resources/0/source/path"),
            ({"kind": "avatar", "resources": [source(self.folder / "fifo.jpg")]}, "invalidSource",
             "/resources/0/source/path"),
            ({"kind": "avatar", "resources": [source(self.folder / "dangling.jpg")]}, "invalidSource",
             "/resources/0/source/path"),
            ({"kind": "feedPost", "resources": []}, "invalidParams", "/resources"),
            ({"kind": "feedPost", "resources": [source(photo)] * 10}, "invalidParams", "/resources"),
            ({"kind": "message", "resources": []}, "invalidParams", "/resources"),
            ({"kind": "postcard", "resources": [source(photo)]}, "invalidParams", "/kind"),
            ({"kind": "avatar", "resources": [source(photo)], "colour": 1}, "invalidParams", "/colour"),
            ({"kind": "avatar", "resources": [{"source": {"path": 7}}]}, "invalidParams", "/resources/0/source/path"),
            ({"kind": "avatar", "resources": [{"source": {"path": "x.jpg"}}]}, "invalidParams",
             "/resources/0/source/path"),
            ({"kind": "avatar", "resources": [{}]}, "invalidParams", "/resources/0/source"),
            ({"kind": "avatar", "resources": {}}, "invalidParams", "/resources"),
            ({"kind": "avatar", "resources": [source(photo)], "destination": "moon"}, "invalidParams", "/destination"),
            ({"resources": [source(photo)]}, "invalidParams", "/kind"),
        ]
        for params, code, pointer in cases:
            with self.subTest(params=params):
                error = self.refused(code, engine, "task/submit", params)
                self.assertEqual(error["data"]["pointer"], pointer)
        self.refused("methodNotFound", engine, "task/fly", {})
        self.refused("notFound", engine, "task/get", {"id": "x"})
        self.assertEqual(engine.call("task/list")["tasks"], [])
        self.assertEqual(engine.close(), 0)

    def test_a_broken_config_stops_the_start_and_says_where(self):
        for text, place in [("{", "broken.json:1:2: "), ('{"uploads":{"slots":"many"}}', "/uploads/slots"), ('{"x":1}', "/x"),
                            ('{"accounts":{"a":{"destination":"moon"}}}', "/accounts/a/destination"),
                            ('{"destinations":{"p":{"storage":{"type":"directory","path":"/x"},'
                             '"delivery":{"type":"http","url":"http://h/${env:NOT_SET_HERE}"}}}}',
                             "/destinations/p/delivery/url")]:
            config = self.folder / "broken.json"
            config.write_text(text)
            done = subprocess.run(self.command(config), env=self.environment(), capture_output=True, text=True, input="")
            self.assertEqual(done.returncode, 78, done)
            self.assertIn(place, done.stderr)
            self.assertEqual(done.stdout, "")


class Sessions(Line):
    def exchange(self, text, *options):
        done = subprocess.run(self.command(None, *options), env=self.environment(), capture_output=True,
                              input=text if isinstance(text, bytes) else text.encode(), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_B058_what_was_asked_before_the_end_of_stdin_is_answered(self):
        requests = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": method}) + "\n"
                           for n, method in enumerate(["engine/status", "task/list", "initialize", "task/list",
                                                       "engine/status"]))
        answers = [json.loads(line) for line in self.exchange(requests).splitlines()]
        self.assertEqual(sorted(answer["id"] for answer in answers), [0, 1, 2, 3, 4])
        self.assertTrue(all("result" in answer for answer in answers))

    def test_a_wait_that_is_under_way_at_the_end_of_stdin_is_answered_with_what_is_true(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "message", self.photos(1))
        service.wait("PUT", "/objects", "held")
        wait = {"jsonrpc": "2.0", "id": "w", "method": "task/wait", "params": {"id": task["id"]}}
        engine.process.stdin.write(json.dumps(wait).encode() + b"\n")
        engine.process.stdin.close()
        answer = json.loads(engine.process.stdout.read().splitlines()[-1])
        self.assertEqual((answer["id"], answer["result"]["task"]["state"]), ("w", "uploading"))
        self.assertEqual(engine.process.wait(10), 0)

    def test_both_framings_are_answered_in_kind(self):
        body = b'{"jsonrpc":"2.0","id":"a","method":"engine/status"}'
        answer = self.exchange(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertEqual(head, b"Content-Length: %d" % len(content))
        self.assertEqual(json.loads(content)["id"], "a")

    def test_ids_come_back_digit_for_digit_and_notifications_are_never_answered(self):
        lines = ['{"jsonrpc":"2.0","id":9007199254740993,"method":"engine/status"}',
                 '{"jsonrpc":"2.0","id":1.50,"method":"engine/status"}',
                 '{"jsonrpc":"2.0","id":null,"method":"engine/status"}', '{"jsonrpc":"2.0","id":{},"method":"x"}',
                 '{"jsonrpc":"2.0","method":"no/such"}', '[{"jsonrpc":"2.0","method":"no/such"}]',
                 '{"jsonprc":"2.0","id":"x","method":"engine/status"}', "[]", "\x00", "[1]"]
        output = self.exchange("\n".join(lines) + "\n").decode()
        self.assertIn('"id":9007199254740993,"result"', output)
        self.assertIn('"id":1.50,"result"', output)
        answers = [json.loads(line) for line in output.splitlines()]
        codes = [answer[0]["error"]["code"] if isinstance(answer, list) else answer.get("error", {}).get("code")
                 for answer in answers]
        self.assertEqual(codes, [None, None, None, -32600, -32600, -32600, -32700, -32600])

    def test_invalid_utf8_and_a_line_too_long_do_not_end_the_session(self):
        status = b'{"jsonrpc":"2.0","id":1,"method":"engine/status"}\n'
        output = self.exchange(b'{"a":"\xff"}\n' + b'"' + b"x" * (17 << 20) + b'"\n' + status)
        answers = [json.loads(line) for line in output.splitlines()]
        self.assertEqual([answer.get("error", {}).get("code") for answer in answers], [-32700, -32600, None])

    def test_B052_stdout_carries_protocol_only(self):
        photo = str(self.photos(1)[0])
        submit = [{"jsonrpc": "2.0", "id": 1, "method": "event/subscribe"},
                  {"jsonrpc": "2.0", "id": 2, "method": "task/submit",
                   "params": {"kind": "message", "resources": [{"source": {"path": photo}}]}},
                  {"jsonrpc": "2.0", "id": 3, "method": "task/submit",
                   "params": {"kind": "log", "resources": [{"source": {"path": photo}}]}}]
        output = self.exchange("".join(json.dumps(message) + "\n" for message in submit), "--linger", "--log-level", "trace")
        messages = [json.loads(line) for line in output.splitlines()]
        self.assertTrue(all(message["jsonrpc"] == "2.0" for message in messages))
        self.assertEqual({message["id"] for message in messages if "id" in message}, {1, 2, 3})

    def test_a_subscriber_is_told_every_change_and_progress_never_falls(self):
        engine = self.start_engine()
        cursor = engine.call("event/subscribe", {"progressIntervalMs": 0})["cursor"]
        task = self.submit(engine, "message", self.photos(3))
        self.finish(engine, task["id"])
        engine.call("engine/status")
        changed = [note["params"] for note in engine.notifications if note["method"] == "task/changed"]
        self.assertEqual([note["cursor"] for note in changed], list(range(cursor + 1, cursor + 1 + len(changed))))
        self.assertEqual(changed[-1]["task"]["state"], "sent")
        told = [note["params"].get("progress", note["params"].get("task", {}).get("progress"))
                for note in engine.notifications if note["method"] in ("task/changed", "task/progress")]
        self.assertEqual(told, sorted(told))
        self.assertEqual(told.count(1), 1)
        replay = self.start_replay(engine, cursor)
        self.assertEqual([note["cursor"] for note in replay], [note["cursor"] for note in changed])

    def start_replay(self, engine, since):
        engine.notifications.clear()
        engine.call("event/subscribe", {"since": since})
        engine.call("task/list")
        return [note["params"] for note in engine.notifications if note["method"] == "task/changed"]


class Owners(Line):
    def test_B064_a_second_engine_on_the_store_refuses_and_a_dead_one_does_not_block(self):
        engine = self.start_engine()
        engine.call("engine/status")
        second = subprocess.run(self.command(), env=self.environment(), capture_output=True, text=True, input="")
        self.assertEqual(second.returncode, 75)
        self.assertIn("another engine", second.stderr)
        engine.kill()
        self.assertEqual(self.start_engine().call("engine/status")["tasks"], {})

    def test_B055_the_engine_does_not_outlive_its_front_end(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service))
        task = self.submit(engine, "message", self.photos(1))
        service.wait("PUT", "/objects", "held")
        self.assertEqual(engine.close(), 0)
        service.faults()
        service.release()
        engine = self.start_engine(self.config(service))
        self.finish(engine, task["id"])

    def test_sigterm_ends_it_in_order(self):
        engine = self.start_engine()
        engine.call("engine/status")
        engine.process.send_signal(signal.SIGTERM)
        self.assertEqual(engine.process.wait(10), 0)

    def test_a_newer_store_is_refused_untouched(self):
        self.start_engine().close()
        path = self.store / "taskcenter.db"
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 9999")
        connection.close()
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        done = subprocess.run(self.command(), env=self.environment(), capture_output=True, text=True, input="")
        self.assertEqual(done.returncode, 65)
        self.assertIn("9999", done.stderr)
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), before)

    def test_a_damaged_store_is_set_aside_and_reported(self):
        self.store.mkdir(mode=0o700)
        (self.store / "taskcenter.db").write_bytes(b"no database at all" * 400)
        status = self.start_engine().call("engine/status")
        self.assertIn("set aside", status["notices"][0])
        self.assertEqual(len(list(self.store.glob("taskcenter.db.corrupt-*"))), 1)


class Kinds(Line):
    def test_all_five_kinds_arrive_in_the_embedded_default(self):
        engine = self.start_engine()
        clip, tone = self.folder / "clip.mp4", self.folder / "tone.wav"
        run = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi"]
        subprocess.run(run + ["-i", "testsrc2=s=640x360:d=1", "-pix_fmt", "yuv420p", str(clip)], check=True)
        subprocess.run(run + ["-i", "sine=d=1", str(tone)], check=True)
        (self.folder / "logs").mkdir()
        (self.folder / "logs" / "größe.txt").write_text("hello")
        photo, other = self.photos(2)
        tasks = {
            "photos": self.submit(engine, "feedPost", [photo, other], payload={"text": "two"}),
            "audio": self.submit(engine, "feedPost", [tone, photo], lane="audio"),
            "film": self.submit(engine, "feedPost", [clip], lane="film"),
            "chat": self.submit(engine, "chatVideo", [clip]),
            "mixed": self.submit(engine, "message", [photo, clip], payload={"text": "both"}),
            "avatar": self.submit(engine, "avatar", [photo]),
            "log": self.submit(engine, "log", [self.folder / "logs", photo]),
        }
        tasks = {name: self.finish(engine, task["id"]) for name, task in tasks.items()}
        self.assertEqual([r["role"] for r in tasks["audio"]["resources"]], ["audio", "cover"])
        self.assertEqual([r["role"] for r in tasks["mixed"]["resources"]], ["image", "video"])
        avatar = tasks["avatar"]["resources"][0]["receipt"]
        self.assertEqual(avatar["width"], avatar["height"])
        outbox = self.folder / ".local/share/taskcenter/outbox"
        with zipfile.ZipFile(next(outbox.glob("default/log/*/0-*.zip"))) as archive:
            self.assertEqual(archive.read("logs/größe.txt"), b"hello")
        journal = [json.loads(line) for line in (outbox / "sent.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(line["taskId"] for line in journal), sorted(task["id"] for task in tasks.values()))
        self.assertEqual(list((self.store / "exports").iterdir()), [])

    def test_B009_the_same_key_is_the_same_task_and_another_content_is_a_conflict(self):
        photo = make_photo(self.folder / "own.jpg")
        engine = self.start_engine()
        submit = {"kind": "message", "key": "k1", "resources": [{"source": {"path": str(photo)}}]}
        lines = "".join(json.dumps({"jsonrpc": "2.0", "id": f"s{n}", "method": "task/submit", "params": submit}) + "\n"
                        for n in range(2))
        engine.process.stdin.write(lines.encode())
        engine.call("engine/status")
        while sum(1 for note in engine.notifications if str(note.get("id", "")).startswith("s")) < 2:
            engine.call("task/list")
        answers = [note["result"] for note in engine.notifications if str(note.get("id", "")).startswith("s")]
        self.assertEqual(sorted(answer["created"] for answer in answers), [False, True])
        task_id = answers[0]["task"]["id"]
        self.assertEqual({answer["task"]["id"] for answer in answers}, {task_id})
        self.finish(engine, task_id)
        engine.close()
        photo.unlink()
        engine = self.start_engine()
        again = engine.call("task/submit", submit)
        self.assertEqual((again["created"], again["task"]["id"]), (False, task_id))
        self.refused("keyConflict", engine, "task/submit", submit | {"payload": {"text": "other"}})
        self.assertEqual(len((self.folder / ".local/share/taskcenter/outbox/sent.jsonl").read_text().splitlines()), 1)

    def test_B009_contents_that_differ_in_bytes_only_are_two(self):
        engine = self.start_engine()
        for number, (one, other) in enumerate((("\u00e9", "e\u0301"), (9007199254740993, 9007199254740992))):
            submit = {"kind": "message", "key": f"k{number}", "draft": True, "resources": []}
            engine.call("task/submit", submit | {"payload": {"text": "hi", "x": one}})
            self.assertFalse(engine.call("task/submit", submit | {"payload": {"text": "hi", "x": one}})["created"])
            self.refused("keyConflict", engine, "task/submit", submit | {"payload": {"text": "hi", "x": other}})

    def test_lists_of_large_tasks_come_in_pages_that_a_session_can_take(self):
        engine = self.start_engine()
        for number in range(9):
            engine.call("task/submit", {"kind": "message", "draft": True, "resources": [], "lane": f"l{number}",
                                        "payload": {"text": "x" * 9_000_000}})
        seen, cursor = [], {}
        while True:
            page = engine.call("task/list", cursor)
            seen += [task["lane"] for task in page["tasks"]]
            if "cursor" not in page:
                break
            cursor = {"cursor": page["cursor"]}
        self.assertEqual(seen, [f"l{number}" for number in reversed(range(9))])
        snapshot = engine.call("event/subscribe", {"since": 0})
        self.assertTrue(snapshot["truncated"])
        self.assertEqual(snapshot["tasks"][0]["lane"], "l8")

    def test_a_caller_at_the_door_that_does_not_read_is_cut_off(self):
        engine = self.start_engine()
        engine.call("task/submit", {"kind": "message", "draft": True, "resources": [], "key": "k",
                                    "payload": {"text": "x" * 15_000_000}})
        task = engine.call("task/list")["tasks"][0]["id"]
        self.wait_until((self.store / "engine.sock").exists)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(self.store / "engine.sock"))
            caller.sendall(b'{"jsonrpc":"2.0","id":0,"method":"engine/status"}\n')
            self.assertIn(b'"sessions":2', caller.recv(1 << 16))
            for number in range(6):
                caller.sendall(json.dumps({"jsonrpc": "2.0", "id": number, "method": "task/get",
                                           "params": {"id": task}}).encode() + b"\n")
            self.wait_until(lambda: engine.call("engine/status")["sessions"] == 1)
            caller.settimeout(30)
            while caller.recv(1 << 20):
                pass

    def test_a_busy_feed_refuses_and_a_newer_avatar_replaces(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 2, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service))
        photos = self.photos(2)
        post = self.submit(engine, "feedPost", photos[:1])
        avatar = self.submit(engine, "avatar", photos[:1])
        error = self.refused("laneBusy", engine, "task/submit",
                             {"kind": "feedPost", "resources": [{"source": {"path": str(photos[1])}}]})
        self.assertEqual(error["data"]["id"], post["id"])
        service.wait("PUT", "/objects", "held", count=2)
        newer = self.submit(engine, "avatar", photos[1:])
        self.finish(engine, avatar["id"], "canceled")
        service.faults()
        service.release()
        self.finish(engine, newer["id"])
        self.finish(engine, post["id"])

    def test_a_source_that_changed_or_went_is_named(self):
        service = self.start_service()
        service.faults({"match": {"method": "PUT"}, "times": 1, "action": "stall", "bytes": 20_000})
        engine = self.start_engine(self.config(service, uploads={"slots": 1}))
        changed, gone = make_photo(self.folder / "c.jpg"), make_photo(self.folder / "g.jpg")
        drafts = [self.submit(engine, "message", [path], draft=True, lane=path.stem)["id"] for path in (changed, gone)]
        changed.write_bytes(changed.read_bytes() + b"more")
        gone.unlink()
        for task in drafts:
            engine.call("task/start", {"id": task})
        self.assertEqual(self.finish(engine, drafts[0], "failed")["failure"]["code"], "sourceChanged")
        failure = self.finish(engine, drafts[1], "failed")["failure"]
        self.assertEqual((failure["code"], failure["resource"]), ("sourceMissing", 0))
        engine.call("task/retry", {"id": drafts[0]})
        service.wait("PUT", "/objects", "held")
        service.release()
        self.finish(engine, drafts[0])


if __name__ == "__main__":
    unittest.main()
