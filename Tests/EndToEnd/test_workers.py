"""What becomes of an export whose worker crashes, hangs, is killed, or asks for too much; and what is left of it."""
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import PROGRAMS, EngineProcess, Line

WORKER = PROGRAMS / "taskcenter-export"


class Process:
    """A process that is not our child, by a descriptor that becomes readable when it has ended."""

    def __init__(self, pid):
        self.pid = pid
        self.descriptor = os.pidfd_open(pid)

    def has_ended(self, patience=0):
        return bool(select.select([self.descriptor], [], [], patience)[0])

    def close(self):
        os.close(self.descriptor)


class Workers(Line):
    media = None

    @classmethod
    def film(cls, seconds):
        """A film that has to be encoded, which takes a while."""
        if Workers.media is None:
            Workers.media = Path(tempfile.mkdtemp(prefix="taskcenter-media-"))
            unittest.addModuleCleanup(shutil.rmtree, Workers.media)
        path = Workers.media / f"{seconds}.mkv"
        if not path.exists():
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=1280x720:r=30:d={seconds}",
                            "-c:v", "mpeg4", "-q:v", "3", str(path)], check=True)
        return path

    def start_with(self, script, config):
        """An engine whose worker is this shell script; `$STARTS` is the file where each start leaves a line."""
        self.starts = self.folder / "starts"
        self.starts.touch()
        self.script = self.folder / "worker.sh"
        self.write_script(script)
        environment = self.environment() | {"TASKCENTER_EXPORT": str(self.script), "STARTS": str(self.starts)}
        engine = EngineProcess(self.command(config), environment, str(self.log))
        self.addCleanup(lambda: engine.process.poll() is None and engine.kill())
        return engine

    def write_script(self, script):
        # A file that is being written can't be run; the new one takes the old one's place.
        draft = self.folder / "worker.draft"
        draft.write_text("#!/bin/sh\necho $$ >> $STARTS\n" + script + "\n")
        draft.chmod(0o755)
        draft.rename(self.script)

    def pids(self):
        return [int(line) for line in self.starts.read_text().split()]

    def real(self):
        return f'exec "{WORKER}" "$@"'

    def at_work(self, engine, path, kind="chatVideo"):
        """- Returns a task whose worker has told of progress, and that worker."""
        engine.call("event/subscribe")
        task = self.submit(engine, kind, [path])
        deadline = time.monotonic() + 60
        while True:
            message = engine.notifications.pop(0) if engine.notifications else engine.message(deadline)
            if message.get("method") == "task/progress":
                break
        process = Process(self.pids()[-1])
        self.addCleanup(process.close)
        return task, process

    def exports(self):
        return sorted(path.name for path in (self.store / "exports").iterdir())

    def assert_engine_works(self, engine):
        self.finish(engine, self.submit(engine, "message", [], payload={"text": "still here"})["id"])

    # What one worker does

    def test_two_warm_workers_make_nine_photos_side_by_side(self):
        # Each begins when both are there: one alone would wait for ever.
        both = 'while [ "$(wc -l < "$STARTS")" -lt 2 ]; do sleep 0.01; done\n'
        engine = self.start_with(both + self.real(), self.config(exports={"picturesPerSlot": 2}))
        self.finish(engine, self.submit(engine, "feedPost", self.photos(9))["id"])
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(engine.call("engine/status")["exports"], {"used": 0, "limit": 1})
        self.finish(engine, self.submit(engine, "avatar", self.photos(1))["id"])
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(self.exports(), [])

    def test_two_pictures_at_work_take_one_slot(self):
        # Swallows its order, and waits for the end of the channel.
        engine = self.start_with("exec cat > /dev/null", self.config(exports={"picturesPerSlot": 2}))
        self.submit(engine, "feedPost", self.photos(3))
        self.wait_until(lambda: len(self.pids()) == 2)
        self.assertEqual(engine.call("engine/status")["exports"], {"used": 1, "limit": 1})

    def test_one_warm_worker_makes_nine_photos_where_a_slot_takes_one_picture(self):
        engine = self.start_with(self.real(), self.config(exports={"picturesPerSlot": 1}))
        self.finish(engine, self.submit(engine, "feedPost", self.photos(9))["id"])
        self.assertEqual(len(self.pids()), 1)
        self.finish(engine, self.submit(engine, "avatar", self.photos(1))["id"])
        self.assertEqual(len(self.pids()), 1)
        self.assertEqual(self.exports(), [])

    def test_the_worker_at_work_is_in_its_sandbox(self):
        engine = self.start_with(self.real(), self.config())
        task, process = self.at_work(engine, self.film(60))
        status = Path(f"/proc/{process.pid}/status").read_text()
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("Seccomp:\t2", status)
        limits = {line[:25].strip(): line[26:46].strip() for line in Path(f"/proc/{process.pid}/limits").read_text().splitlines()}
        self.assertEqual(limits["Max open files"], "64")
        self.assertEqual(limits["Max core file size"], "0")
        # A chat video's hard limit and some more.
        self.assertTrue(limits["Max file size"].isdigit(), limits)
        engine.call("task/cancel", {"id": task["id"]})

    # Crash, hang, greed

    def test_a_worker_that_crashes_once_costs_nothing_but_time(self):
        engine = self.start_with(self.real(), self.config())
        task, process = self.at_work(engine, self.film(10))
        os.kill(process.pid, signal.SIGSEGV)
        done = self.finish(engine, task["id"])
        self.assertNotIn("failure", done)
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(self.exports(), [])

    def test_a_worker_that_crashes_again_is_given_up_and_a_retry_begins_anew(self):
        engine = self.start_with("kill -SEGV $$", self.config())
        task = self.finish(engine, self.submit(engine, "message", self.photos(1))["id"], "failed")
        self.assertEqual(task["failure"]["code"], "exportCrashed")
        self.assertEqual(task["failure"]["resource"], 0)
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(self.exports(), [])
        self.assert_engine_works(engine)
        engine.call("task/retry", {"id": task["id"]})
        self.finish(engine, task["id"], "failed")
        self.assertEqual(len(self.pids()), 4)
        self.write_script(self.real())
        engine.call("task/retry", {"id": task["id"]})
        self.assertNotIn("failure", self.finish(engine, task["id"]))

    def test_a_worker_that_hangs_is_killed_and_tried_once_more(self):
        engine = self.start_with("kill -STOP $$", self.config(exports={"timeoutMs": 1000}))
        task = self.finish(engine, self.submit(engine, "message", self.photos(1))["id"], "failed")
        self.assertEqual(task["failure"]["code"], "exportTimedOut")
        self.assertEqual(len(self.pids()), 2)
        for pid in self.pids():
            self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assert_engine_works(engine)

    def test_a_worker_that_takes_more_processor_time_than_it_may_counts_as_one_that_hangs(self):
        engine = self.start_with("kill -XCPU $$", self.config())
        task = self.finish(engine, self.submit(engine, "message", self.photos(1))["id"], "failed")
        self.assertEqual((task["failure"]["code"], task["failure"]["remedy"]), ("exportTimedOut", "giveUp"))
        self.assertEqual(len(self.pids()), 2)
        self.assert_engine_works(engine)

    def test_a_picture_that_needs_more_memory_than_there_may_be_harms_nobody(self):
        greedy = self.folder / "greedy.jpg"
        plain = self.folder / "plain.v"
        subprocess.run(["vips", "black", str(plain), "12000", "12000", "--bands", "3"], check=True)
        # Progressive: the decoder has to keep all of it.
        subprocess.run(["vips", "jpegsave", str(plain), str(greedy), "--interlace"], check=True)
        plain.unlink()
        engine = self.start_with(self.real(), self.config(exports={"memoryLimit": 256 << 20, "picturesPerSlot": 2}))
        # Two at once, each within its own limit, and a third one for whom there is room all the same.
        greedy_tasks = [self.submit(engine, kind, [greedy])["id"] for kind in ("message", "feedPost")]
        good = self.submit(engine, "avatar", self.photos(1))["id"]
        for task in greedy_tasks:
            task = self.finish(engine, task, "failed")
            self.assertIn(task["failure"]["code"], ("unsupported", "damaged", "exportCrashed"))
            self.assertIn(task["failure"]["remedy"], ("needsUser", "giveUp"))
        self.finish(engine, good)
        self.assertLessEqual(len(self.pids()), 6)
        self.finish(engine, self.submit(engine, "message", self.photos(1))["id"])
        self.assertEqual(self.exports(), [])

    # Cancel and kill

    def test_after_a_cancel_the_worker_is_gone(self):
        engine = self.start_with(self.real(), self.config())
        for stop in (False, True):
            task, process = self.at_work(engine, self.film(60))
            if stop:
                os.kill(process.pid, signal.SIGSTOP)
            self.assertFalse(process.has_ended())
            self.assertEqual(engine.call("task/cancel", {"id": task["id"]})["task"]["state"], "canceled")
            self.assertTrue(process.has_ended(), "the answer came before the end")
            self.assertEqual(self.exports(), [])

    def test_B032_a_worker_does_not_outlive_its_engine_and_leaves_nothing_for_good(self):
        config = self.config()
        engine = self.start_with(self.real(), config)
        task, process = self.at_work(engine, self.film(10))
        engine.kill()
        self.assertTrue(process.has_ended(30))
        self.assertEqual([name.rsplit(".", 1)[-1] for name in self.exports()], ["part"])
        engine = self.start_with(self.real(), config)
        self.finish(engine, task["id"])
        self.assertEqual(self.exports(), [])

    def test_B032_a_film_that_can_not_be_encoded_leaves_nothing(self):
        whole, cut = self.folder / "whole.mp4", self.folder / "cut.mp4"
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(self.film(10)), "-c:v", "libx264", "-preset", "ultrafast",
                        "-movflags", "+faststart", str(whole)], check=True)
        content = whole.read_bytes()
        cut.write_bytes(content[:len(content) // 2])
        engine = self.start_engine(self.config())
        task = self.finish(engine, self.submit(engine, "feedPost", [cut])["id"], "failed")
        self.assertEqual(task["failure"]["code"], "damaged")
        self.assertEqual(self.exports(), [])


if __name__ == "__main__":
    unittest.main()
