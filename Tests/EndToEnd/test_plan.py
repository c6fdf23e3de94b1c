"""What `export/plan` and `taskcenter plan` say beforehand, and whether it is what happens."""
import json
import os
import subprocess
import unittest

from harness import Line, PROGRAMS, RemoteError

LIMITS = {"chatVideo": {"limit": 300_000, "hardLimit": 400_000}}
FIELDS = ("rung", "width", "height")


class Plans(Line):
    def clip(self, name="clip.mp4", size="1280x720", seconds=2, *more):
        path = self.folder / name
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
                        f"testsrc2=s={size}:r=30:d={seconds},noise=alls=20:allf=t", "-f", "lavfi", "-i",
                        f"sine=d={seconds}", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "aac",
                        *more, str(path)], check=True)
        return path

    def plan(self, engine, kind, paths):
        resources = [{"source": {"path": str(path)}} for path in paths]
        return engine.call("export/plan", {"kind": kind, "resources": resources})["resources"]

    def worker_that_hangs_once(self):
        """- Returns variables for an engine whose first worker says that it is there, through a pipe, and then nothing."""
        pipe, taken, program = (self.folder / name for name in ("up", "taken", "worker"))
        os.mkfifo(pipe)
        program.write_text(f"#!/bin/sh\nif mkdir {taken} 2>/dev/null; then echo > {pipe}; exec sleep 600; fi\n"
                           f'exec {PROGRAMS / "taskcenter-export"} "$@"\n')
        program.chmod(0o755)
        self.variables = {"TASKCENTER_EXPORT": str(program)}
        return pipe

    variables = {}

    def environment(self):
        return super().environment() | self.variables


class Engine(Plans):
    def test_a_plan_is_what_the_export_does_and_nothing_is_stored(self):
        engine = self.start_engine(self.config(kinds=LIMITS))
        photo, other = self.photos(2)
        large, small = self.clip(), self.clip("small.mp4", "320x240", 1, "-crf", "40")
        silent = self.clip("silent.mov", "640x360", 1, "-an")
        cases = [("feedPost", [photo, other]), ("feedPost", [large]), ("feedPost", [silent]), ("chatVideo", [large]),
                 ("chatVideo", [small]), ("message", [photo, large, small]), ("avatar", [photo])]
        plans = [self.plan(engine, kind, paths) for kind, paths in cases]
        self.assertEqual(engine.call("task/list")["tasks"], [])
        self.assertEqual(list((self.store / "exports").iterdir()), [])
        self.assertEqual([plan[0]["action"] for plan in plans[3:5]], ["encode", "remux"])
        for number, ((kind, paths), plan) in enumerate(zip(cases, plans)):
            with self.subTest(kind=kind, paths=paths):
                # A lane for each: a feed takes one post at a time.
                task = self.finish(engine, self.submit(engine, kind, paths, lane=f"lane {number}")["id"])
                self.assertEqual([part["index"] for part in plan], list(range(len(paths))))
                for said, done in zip(plan, task["resources"]):
                    self.assertEqual([said.get(name) for name in FIELDS], [done["export"].get(name) for name in FIELDS])
                    self.assertGreater(said["estimatedBytes"], 0)
                    self.assertTrue(said["reason"].endswith("."), said)
                if kind == "chatVideo":
                    self.assertLessEqual(task["resources"][0]["export"]["size"], LIMITS["chatVideo"]["limit"])

    def test_a_log_is_one_zip_and_a_song_keeps_its_bytes(self):
        engine = self.start_engine()
        photo = self.photos(1)[0]
        song = self.folder / "song.mp3"
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=d=1", str(song)], check=True)
        log = self.plan(engine, "log", [photo, self.folder])
        self.assertEqual([(part["index"], part["action"], part["rung"]) for part in log], [(0, "zip", "zip")])
        post = self.plan(engine, "feedPost", [song, photo])
        self.assertEqual([(part["index"], part["action"]) for part in post], [(0, "remux"), (1, "encode")])

    def test_what_submit_refuses_a_plan_refuses_in_the_same_way(self):
        engine = self.start_engine()
        photo = str(self.photos(1)[0])
        text = self.folder / "text.jpg"
        text.write_text("this is no picture")

        def source(path):
            return {"source": {"path": str(path)}}

        for params in [{"kind": "feedPost", "resources": [source("/no/such.jpg")]},
                       {"kind": "avatar", "resources": [source(text)]},
                       {"kind": "avatar", "resources": [source(photo)] * 2},
                       {"kind": "chatVideo", "resources": [source(photo)]},
                       {"kind": "feedPost", "resources": []}, {"kind": "message", "resources": []},
                       {"kind": "postcard", "resources": [source(photo)]}, {"kind": "avatar", "resources": [{}]}]:
            with self.subTest(params=params):
                errors = []
                for method in ("task/submit", "export/plan"):
                    with self.assertRaises(RemoteError) as caught:
                        engine.call(method, params)
                    errors.append(caught.exception.error)
                self.assertEqual(errors[0], errors[1])
        error = self.refused("invalidParams", engine, "export/plan", {"kind": "avatar", "resources": [source(photo)], "x": 1})
        self.assertEqual(error["data"]["pointer"], "/x")

    def test_a_film_that_can_not_fit_is_named_before_anything_is_encoded(self):
        limits = {"chatVideo": {"limit": 65_536, "hardLimit": 65_536}}
        engine = self.start_engine(self.config(kinds=limits))
        clip = self.clip("long.mp4", "320x240", 30)
        with self.assertRaises(RemoteError) as caught:
            self.plan(engine, "chatVideo", [clip])
        error = caught.exception.error
        self.assertEqual((error["data"]["reason"], error["data"]["pointer"]), ("tooLarge", "/resources/0/source/path"))
        self.assertIn("30 s", error["message"])
        failure = self.finish(engine, self.submit(engine, "chatVideo", [clip])["id"], "failed")["failure"]
        self.assertEqual(failure["code"], "tooLarge")
        self.assertIn(failure["message"], error["message"])

    def test_a_plan_does_not_wait_for_an_export_that_runs(self):
        pipe = self.worker_that_hangs_once()
        engine = self.start_engine()
        task = self.submit(engine, "chatVideo", [self.clip(seconds=1)])
        pipe.read_text()
        self.assertEqual(self.plan(engine, "avatar", self.photos(1))[0]["width"], 600)
        state = engine.call("task/get", {"id": task["id"]})["task"]["state"]
        self.assertEqual((state, engine.call("engine/status")["exports"]["used"]), ("exporting", 1))
        engine.call("task/cancel", {"id": task["id"]})

    def test_a_plan_can_be_taken_back_and_the_next_one_is_answered(self):
        pipe = self.worker_that_hangs_once()
        engine = self.start_engine()
        photo = str(self.photos(1)[0])
        params = {"kind": "avatar", "resources": [{"source": {"path": photo}}]}
        engine.process.stdin.write(json.dumps(
            {"jsonrpc": "2.0", "id": "p", "method": "export/plan", "params": params}).encode() + b"\n")
        pipe.read_text()
        engine.process.stdin.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"p"}}\n')
        self.assertEqual(self.plan(engine, "avatar", [photo])[0]["action"], "encode")
        answers = [note for note in engine.notifications if note.get("id") == "p"]
        self.assertEqual([answer["error"]["data"]["code"] for answer in answers], ["requestCancelled"])


class Client(Plans):
    def run_client(self, *words, expect=0):
        done = subprocess.run([str(PROGRAMS / "taskcenter"), *map(str, words), "--config", str(self.config(kinds=LIMITS))],
                              env=self.environment(), capture_output=True, text=True, timeout=60, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done)
        return done

    def test_a_table_for_people_and_json_for_scripts(self):
        clip, photo = self.clip(), self.photos(1)[0]
        table = self.run_client("plan", "message", clip, photo).stdout.splitlines()
        self.assertEqual(table[0].split(), ["FILE", "ACTION", "PIXELS", "SIZE", "WHY"])
        self.assertRegex(table[1], rf"{clip} +encode +\d+×\d+ +~ \d+ kB +Encoded, as ")
        self.assertEqual(len(table), 3)
        answer = json.loads(self.run_client("plan", "chat", clip, "--json").stdout)
        self.assertEqual([part["action"] for part in answer["resources"]], ["encode"])
        self.assertEqual(json.loads(self.run_client("list", "--json").stdout), [])

    def test_the_kind_is_guessed_from_the_bytes(self):
        clip = self.clip("film", "320x240", 1, "-crf", "40", "-f", "mp4")
        (self.folder / "notes.txt").write_text("hello")
        for name, rung in (("film", "remux"), (str(self.photos(1)[0]), "2048"), ("notes.txt", "zip"), (".", "zip")):
            with self.subTest(name):
                parts = json.loads(self.run_client("plan", name, "--json").stdout)["resources"]
                self.assertEqual([part["rung"] for part in parts], [rung])
        self.assertTrue(clip.exists())

    def test_mistakes_have_a_sentence_and_a_status(self):
        self.assertIn("did you mean chat?", self.run_client("plan", "chatt", "x.mp4", expect=64).stderr)
        self.assertIn("plan chat: which file?", self.run_client("plan", "chat", expect=64).stderr)
        self.assertIn("plan what?", self.run_client("plan", expect=64).stderr)
        self.assertIn("x.mp4 does not exist", self.run_client("plan", "chat", "x.mp4", expect=66).stderr)
        self.assertIn("usage: taskcenter plan", self.run_client("plan", "--help").stdout)
        long = self.clip("long.mp4", "320x240", 90)
        self.assertIn("taskcenter: “long.mp4” lasts 90 s", self.run_client("plan", "chat", long, expect=66).stderr)


if __name__ == "__main__":
    unittest.main()
