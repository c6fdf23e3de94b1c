"""Exports and uploads side by side."""
import subprocess
import unittest

from harness import Line


def make_clip(path, seconds, size="1280x720"):
    """Moving noise, which takes its time to be encoded, in a form that has to be."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:d={seconds},noise=alls=30:allf=t",
                    "-c:v", "mpeg4", "-q:v", "4", str(path)], check=True)
    return path


class Overlap(Line):
    def test_a_picture_goes_up_while_a_long_video_is_still_being_made(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        clip = make_clip(self.folder / "clip.mp4", 6)
        task = self.finish(engine, self.submit(engine, "message", [*self.photos(1), clip])["id"])
        self.assert_stored_as_receipts_say(service, task)
        entries = engine.call("task/history", {"id": task["id"]})["entries"]
        steps = [(entry.get("resource"), entry["to"]) for entry in entries]
        self.assertLess(steps.index((0, "uploaded")), steps.index((1, "exported")), steps)
        asked = [entry for entry in service.log() if entry["path"].startswith("/uploads")]
        self.assertEqual(len(asked), 2, "one for the picture, one for the video")

    def test_pictures_share_one_credential_request(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        self.finish(engine, self.submit(engine, "feedPost", self.photos(3))["id"])
        self.assertEqual(len([entry for entry in service.log() if entry["path"].startswith("/uploads")]), 1)


if __name__ == "__main__":
    unittest.main()
