"""The thin client, as a person or a script uses it."""
import json
import os
import pty
import signal
import subprocess
import unittest

from harness import Line, PROGRAMS


class Client(Line):
    """The client and its exit status."""

    def run_client(self, *words, expect=0):
        done = subprocess.run([str(PROGRAMS / "taskcenter"), *map(str, words)], env=self.environment(),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, expect, done)
        return done


class Commands(Client):
    def test_a_send_returns_at_once_and_a_second_front_end_sees_it_through(self):
        photo, other = self.photos(2)
        first = self.run_client("send", "feed", photo, other, "--text", "hello").stdout.strip()
        final = json.loads(self.run_client("send", "message", photo, "--to", "alice", "--wait", "--json").stdout)
        self.assertEqual((final["state"], final["lane"], final["progress"]), ("sent", "alice", 1))
        self.run_client("watch", first)
        listed = json.loads(self.run_client("list", "--json").stdout)
        self.assertEqual([(task["kind"], task["state"]) for task in listed], [("message", "sent"), ("feedPost", "sent")])
        self.assertIn("delivering → sent", self.run_client("show", first[-8:]).stdout)
        self.run_client("delete", "last")
        self.assertEqual(len(json.loads(self.run_client("list", "--json").stdout)), 1)
        self.assertNotIn("\x1b", self.run_client("list").stdout)

    def test_mistakes_have_a_sentence_and_a_status_of_their_own(self):
        self.assertIn("/no/such.jpg does not exist", self.run_client("send", "avatar", "/no/such.jpg", expect=66).stderr)
        self.assertIn("--nope", self.run_client("list", "--nope", expect=64).stderr)
        self.assertIn("unknown command", self.run_client("fly", expect=64).stderr)
        self.assertIn("no task", self.run_client("show", "abcd", expect=64).stderr)
        broken = self.folder / "broken.json"
        broken.write_text('{"x":1}')
        self.assertIn("/x", self.run_client("status", "--config", broken, "--store", self.folder / "b", expect=78).stderr)

    def test_a_store_that_is_an_empty_variable_is_no_store(self):
        for words in (["status", "--store", ""], ["status", "--store="], ["list", "--config", ""]):
            self.assertIn("must not be empty", self.run_client(*words, expect=64).stderr)
        for words in (["--store", ""], ["--store="], ["--linger=1"]):
            done = subprocess.run([str(PROGRAMS / "taskcenterd"), *words], stdin=subprocess.DEVNULL, cwd=self.folder,
                                  env=self.environment(), capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 64, done)
        self.assertFalse((self.folder / "taskcenter.db").exists())

    def test_a_send_is_held_changed_and_let_go(self):
        task_id = self.run_client("send", "message", "--text", "old", "--key", "k").stdout.strip()
        self.run_client("watch", task_id)
        self.assertIn("takes no update", self.run_client("update", task_id, "--text", "new", expect=1).stderr)
        self.assertIn("update what?", self.run_client("update", task_id, expect=64).stderr)
        config = self.config(retry={"baseMs": 60_000, "capMs": 60_000}, destinations={"away": {
            "credential": {"type": "frontEnd"}, "delivery": {"type": "frontEnd"}}})
        self.run_client("send", "message", "--text", "old", "--destination", "away", "--config", config)
        self.wait_until(lambda: "retrying" in self.run_client("list", "--config", config).stdout)
        self.assertIn("paused", self.run_client("pause", "last").stdout)
        changed = json.loads(self.run_client("update", "last", "--text", "new", "--priority", "background",
                                             "--after", "2h", "--json").stdout)
        self.assertEqual((changed["payload"], changed["priority"]), ({"text": "new"}, "background"))
        self.assertIn("waits for its time", self.run_client("resume", "last").stdout)
        self.assertIn("not before", self.run_client("show", "last").stdout)
        self.assertEqual(self.run_client("logout", "default").stdout, "default: 1 canceled, 2 forgotten\n")
        self.assertEqual(self.run_client("list").stdout, "no tasks\n")

    def test_a_url_and_a_private_copy_are_sent(self):
        service = self.start_service()
        photo = self.photos(1)[0]
        first = json.loads(self.run_client("send", "avatar", photo, "--wait", "--json",
                                           "--config", self.config(service)).stdout)
        config = self.config(service)
        copied = self.folder / "copied.jpg"
        copied.write_bytes(photo.read_bytes())
        url = first["resources"][0]["url"]
        sent = json.loads(self.run_client("send", "message", url + "?x=1", copied, "--keep", "--role", "image", "--wait",
                                          "--json", "--config", config).stdout)
        self.assertEqual((sent["state"], [each["state"] for each in sent["resources"]]), ("sent", ["uploaded"] * 2))
        self.assertEqual(sent["resources"][1]["source"], {"path": str(copied), "keep": True})
        shown = self.run_client("show", "last", "--config", config).stdout
        self.assertIn(f"from {url}\n", shown)
        self.assertIn(f"from {copied} (a private copy)", shown)
        self.assertIn("known when it is fetched", self.run_client("plan", url, expect=64).stderr)

    def test_help_is_everywhere(self):
        self.assertIn("usage: taskcenter COMMAND", self.run_client("help").stdout)
        for command in ("send", "list", "show", "watch", "cancel", "retry", "delete", "status", "completion"):
            self.assertIn(f"usage: taskcenter {command}", self.run_client(command, "--help").stdout)
        self.assertIn("complete", self.run_client("completion", "bash").stdout)

    def test_bash_completes_what_can_stand_in_a_place_and_nothing_else(self):
        script = self.folder / "completion.bash"
        script.write_text(self.run_client("completion", "bash").stdout)
        (self.folder / "two words.jpg").touch()
        cases = [(["sen"], ["send"]), (["send", "m"], ["message"]), (["send", "feed", "two"], ["two words.jpg"]),
                 (["list", "--sta"], ["--state"]), (["list", "--state", "ret"], ["retrying"]), (["list", ""], []),
                 (["show", ""], ["last"]), (["show", "last", ""], []), (["completion", "z"], ["zsh"]),
                 (["send", "message", "--text", ""], []), (["status", "--config", "comp"], ["completion.bash"])]
        for words, offered in cases:
            with self.subTest(words):
                line = " ".join(f"'{word}'" for word in ["taskcenter", *words])
                ask = (f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _taskcenter; "
                       'for each in "${COMPREPLY[@]}"; do echo "$each"; done')
                done = subprocess.run(
                    ["bash", "-c", ask],
                    cwd=self.folder, capture_output=True, text=True, timeout=30)
                self.assertEqual((done.stdout.splitlines(), done.stderr), (offered, ""))

    def test_serve_is_the_engine(self):
        done = subprocess.run([str(PROGRAMS / "taskcenter"), "serve", "--store", str(self.store)], text=True,
                              env=self.environment(), input='{"jsonrpc":"2.0","id":1,"method":"engine/status"}\n',
                              capture_output=True, timeout=30)
        self.assertEqual(json.loads(done.stdout)["result"]["store"], str(self.store))


class Following(Client):
    """A send that stands still in the middle, and what may happen around it."""

    def setUp(self):
        super().setUp()
        self.service = self.start_service()
        self.service.faults({"match": {"method": "PUT"}, "times": 1, "action": "stall", "bytes": 20_000})
        self.where = ["--config", str(self.config(self.service)), "--store", str(self.store)]

    def begin(self, *words, **more):
        """- Returns the client, once its upload stands still."""
        client = subprocess.Popen([str(PROGRAMS / "taskcenter"), *map(str, words), *self.where], text=True,
                                  env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(lambda: client.poll() is None and client.kill())
        self.service.wait("PUT", "/objects", "held")
        self.engine = json.loads(self.run_client("status", "--json", *self.where).stdout)["pid"]
        self.addCleanup(self.end_engine)
        return client

    def end_engine(self):
        try:
            os.kill(self.engine, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def let_go(self):
        self.service.faults()
        self.service.release()

    def ended(self, client):
        out, err = client.communicate(timeout=60)
        return client.returncode, out, err

    def test_ctrl_c_ends_the_waiting_and_not_the_send(self):
        client = self.begin("send", "message", self.photos(1)[0], "--wait")
        client.send_signal(signal.SIGINT)
        status, out, err = self.ended(client)
        self.assertEqual((status, out), (130, ""))
        task_id = json.loads(self.run_client("list", "--json", *self.where).stdout)[0]["id"]
        self.assertIn(f"taskcenter cancel {task_id} --store {self.store}", err)
        self.let_go()
        self.assertIn(f"{task_id} message sent", self.run_client("watch", task_id[-8:], *self.where).stdout)

    def test_a_killed_engine_ends_the_waiting_and_the_next_one_goes_on(self):
        client = self.begin("send", "message", self.photos(1)[0], "--wait")
        self.end_engine()
        status, _, err = self.ended(client)
        self.assertEqual(status, 75)
        self.assertIn("the engine has ended", err)
        self.let_go()
        self.run_client("watch", "last", *self.where)

    def test_a_task_that_is_deleted_or_unknown_is_not_waited_for(self):
        client = self.begin("send", "message", self.photos(1)[0], "--wait")
        self.run_client("delete", "last", *self.where)
        status, out, _ = self.ended(client)
        self.assertEqual(status, 1)
        self.assertRegex(out, "deleted|canceled")
        nobody = "00000000-0000-0000-0000-000000000000"
        self.assertIn("no task", self.run_client("watch", nobody, *self.where, expect=64).stderr)

    def test_a_busy_feed_says_whom_to_wait_for(self):
        photo = self.photos(1)[0]
        task_id = self.ended(self.begin("send", "feed", photo))[1].strip()
        refused = self.run_client("send", "feed", photo, "--text", "again", *self.where, expect=75)
        self.assertIn(f"taskcenter watch {task_id}", refused.stderr)

    def test_the_engine_in_the_background_holds_nothing_of_its_starter(self):
        read, write = os.pipe()
        client = self.begin("send", "message", self.photos(1)[0], pass_fds=[write])
        os.close(write)
        self.assertEqual(self.ended(client)[0], 0)
        os.set_blocking(read, False)
        self.assertEqual(os.read(read, 1), b"", "the engine still has the pipe")
        os.close(read)
        self.assertEqual(os.getsid(self.engine), self.engine)


class Screens(Client):
    def on_a_terminal(self, **variables):
        """- Returns what a person sees of a send with --wait."""
        master, terminal = pty.openpty()
        client = subprocess.Popen(
            [str(PROGRAMS / "taskcenter"), "send", "message", str(self.photos(1)[0]), "--wait"], stdin=terminal,
            stdout=terminal, stderr=terminal, env=self.environment() | {"TERM": "xterm"} | variables)
        os.close(terminal)
        seen = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            seen += piece
        os.close(master)
        self.assertEqual(client.wait(30), 0)
        return seen.decode()

    def test_bars_move_on_a_terminal_in_colour_unless_it_is_unwanted(self):
        seen = self.on_a_terminal()
        self.assertIn("\x1b[1A\r\x1b[K", seen)
        self.assertIn("\x1b[32msent", seen)
        self.assertIn("█", seen)
        self.assertNotIn("\x1b[32m", self.on_a_terminal(NO_COLOR="1"))

    def test_a_terminal_of_another_encoding_gets_bars_of_ascii(self):
        self.assertIn("██", self.on_a_terminal(LANG="de_DE.UTF-8"))
        for variables in ({"LANG": "C"}, {"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}):
            seen = self.on_a_terminal(**variables)
            self.assertTrue(seen.isascii(), seen)
            self.assertIn("##", seen)

    def test_a_dumb_terminal_gets_lines(self):
        seen = self.on_a_terminal(TERM="dumb")
        self.assertNotIn("\x1b", seen)
        self.assertIn("message sent 100%", seen)

    def test_a_watch_in_a_pipe_ends_when_nothing_is_left_and_tells_json_events(self):
        self.assertEqual(self.run_client("watch").stdout, "")
        task_id = self.run_client("send", "message", self.photos(1)[0]).stdout.strip()
        events = [json.loads(line) for line in self.run_client("watch", task_id, "--json").stdout.splitlines()]
        self.assertEqual(events[-1]["params"]["task"]["state"], "sent")


class StrangeEngines(Client):
    def environment(self):
        return super().environment() | {"TASKCENTERD": str(self.folder / "engine")}

    def engine(self, script):
        path = self.folder / "engine"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def test_each_way_not_to_start_has_its_sentence(self):
        self.assertIn("can't be started", self.run_client("status", expect=69).stderr)
        cases = [("exit 0", 69, "without a word"), ("kill -9 $$", 70, "was killed"),
                 ("echo taskcenterd: the store is of version 9 >&2; exit 65", 65, "version 9")]
        for script, status, words in cases:
            with self.subTest(script):
                self.engine(script)
                self.assertIn(words, self.run_client("status", expect=status).stderr)

    def test_an_engine_that_talks_much_on_stderr_does_not_stand_still(self):
        self.engine("head -c 1000000 /dev/zero | tr '\\0' x >&2; read line; "
                    """echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read line; """
                    """echo '{"jsonrpc":"2.0","id":2,"result":{"store":"somewhere"}}'""")
        self.assertIn("somewhere", self.run_client("status").stdout)

    def test_an_engine_that_goes_in_the_middle_of_a_question_leaves_nobody_waiting(self):
        self.engine("""read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read line; exit 0""")
        self.assertIn("ended before it answered", self.run_client("status", expect=69).stderr)


if __name__ == "__main__":
    unittest.main()
