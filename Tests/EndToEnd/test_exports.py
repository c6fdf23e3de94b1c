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


class Derived(Line):
    def derive(self, *roles):
        return {"export": {"derive": list(roles)}}

    def test_a_poster_and_a_thumbnail_go_beside_their_sources(self):
        service = self.start_service()
        engine = self.start_engine(self.config(service))
        clip = make_clip(self.folder / "my clip.mov", 2)
        resources = [{"source": {"path": str(self.photos(1)[0])}, **self.derive("thumbnail")},
                     {"source": {"path": str(clip)}, **self.derive("poster", "thumbnail")}]
        task = self.finish(engine, engine.call("task/submit", {"kind": "message", "resources": resources})["task"]["id"])
        delivery = self.assert_stored_as_receipts_say(service, task)
        found = [(each["index"], each["role"], each.get("derivedFrom"), each["name"], each["mime"])
                 for each in delivery["resources"]]
        self.assertEqual(found, [(0, "image", None, "0.jpg", "image/jpeg"), (1, "video", None, "my clip.mp4", "video/mp4"),
                                 (2, "thumbnail", 0, "0-thumbnail.jpg", "image/jpeg"),
                                 (3, "poster", 1, "my clip-poster.jpg", "image/jpeg"),
                                 (4, "thumbnail", 1, "my clip-thumbnail.jpg", "image/jpeg")])
        sizes = {each["index"]: (each["width"], each["height"]) for each in delivery["resources"]}
        self.assertEqual((sizes[3], sizes[4], max(sizes[2])), ((1280, 720), (320, 180), 320))
        for index in (0, 1):
            self.assertGreaterEqual(len(delivery["resources"][index]["blurhash"]), 6)

    def test_what_is_derived_from_a_private_copy_shares_it_and_nothing_of_it_stays(self):
        engine = self.start_engine(self.config())
        clip = make_clip(self.folder / "clip.mp4", 1)
        resources = [{"source": {"path": str(clip), "keep": True}, **self.derive("poster", "thumbnail")}]
        task = engine.call("task/submit", {"kind": "chatVideo", "resources": resources})["task"]
        clip.unlink()
        task = self.finish(engine, task["id"])
        self.assertEqual([each["role"] for each in task["resources"]], ["video", "poster", "thumbnail"])
        # The files go a moment after the state that says so is saved.
        self.wait_until(lambda: not [*(self.store / "sources").iterdir(), *(self.store / "exports").iterdir()])

    def test_what_cannot_be_derived_is_refused_with_its_place(self):
        engine = self.start_engine(self.config())
        photo = {"source": {"path": str(self.photos(1)[0])}}
        for more, pointer in ((self.derive("poster"), "/resources/0/export/derive/0"),
                              (self.derive("thumbnail", "thumbnail"), "/resources/0/export/derive/1"),
                              (self.derive("cover"), "/resources/0/export/derive/0"),
                              ({"role": "poster"}, "/resources/0/role"),
                              ({"export": {"size": 1}}, "/resources/0/export/size")):
            error = self.refused("invalidParams", engine, "task/submit", {"kind": "message", "resources": [photo | more]})
            self.assertEqual(error["data"]["pointer"], pointer)
        self.assertEqual(engine.call("task/list")["tasks"], [])


if __name__ == "__main__":
    unittest.main()
