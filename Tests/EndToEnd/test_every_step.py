"""Kill -9 after every single change that a send makes, and start again."""
import time
import unittest

from harness import EngineGone, Line


class EveryStep(Line):
    def changes_until_sent(self, engine, task_id, limit=None):
        """- Returns how many changes of the task were told before it was sent, or `limit` as soon as so many were."""
        seen = 0
        deadline = time.monotonic() + 60
        while limit is None or seen < limit:
            note = engine.notifications.pop(0) if engine.notifications else engine.message(deadline)
            if note.get("method") != "task/changed" or note["params"]["task"]["id"] != task_id:
                continue
            seen += 1
            if note["params"]["task"]["state"] == "sent":
                break
        return seen

    def send(self, service, config, kill_after):
        """- Returns whether the kill came before the end."""
        engine = self.start_engine(config)
        engine.call("event/subscribe", {"progressIntervalMs": 60_000})
        task = self.submit(engine, "feedPost", self.photos(2), payload={"text": str(kill_after)})
        reached = self.changes_until_sent(engine, task["id"], kill_after)
        engine.kill()
        engine = self.start_engine(config)
        task = self.finish(engine, task["id"])
        self.assert_stored_as_receipts_say(service, task)
        self.assertEqual(list((self.store / "exports").iterdir()), [])
        engine.close()
        return reached == kill_after

    def test_whatever_change_was_the_last_one_the_send_ends_once_and_whole(self):
        service = self.start_service()
        config = self.config(service)
        kill_after = 1
        while self.send(service, config, kill_after):
            kill_after += 1
        self.assertGreater(kill_after, 10, "a send of two photos has more steps than that")


if __name__ == "__main__":
    unittest.main()
