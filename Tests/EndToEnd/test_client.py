"""The thin client, as a person or a script uses it."""
import json
import subprocess
import unittest

from harness import Line, PROGRAMS


class Client(Line):
    def run_client(self, *words, expect=0):
        done = subprocess.run([str(PROGRAMS / "taskcenter"), *map(str, words)], env=self.environment(),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, expect, done)
        return done

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

    def test_help_is_everywhere(self):
        self.assertIn("usage: taskcenter COMMAND", self.run_client("help").stdout)
        for command in ("send", "list", "show", "watch", "cancel", "retry", "delete", "status", "completion"):
            self.assertIn(f"usage: taskcenter {command}", self.run_client(command, "--help").stdout)
        self.assertIn("complete", self.run_client("completion", "bash").stdout)

    def test_serve_is_the_engine(self):
        done = subprocess.run([str(PROGRAMS / "taskcenter"), "serve", "--store", str(self.store)], text=True,
                              env=self.environment(), input='{"jsonrpc":"2.0","id":1,"method":"engine/status"}\n',
                              capture_output=True, timeout=30)
        self.assertEqual(json.loads(done.stdout)["result"]["store"], str(self.store))


if __name__ == "__main__":
    unittest.main()
