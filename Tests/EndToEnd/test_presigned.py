"""Uploads by what a business service has signed (multipart and forms), to a real S3 server over a line that breaks."""
import datetime
import unittest
from urllib.parse import quote

from storage_line import PART, StorageLine  # before what it puts on the path
import s3sig


class Issuer:
    """Presigns multipart uploads as a business service does, and remembers what it was asked.

    - Parameter expired: numbers of the parts whose URL of the first answer is too old already."""

    def __init__(self, weed, address, prefix, expired=(), forgets=False):
        self.weed, self.address, self.prefix, self.expired, self.forgets = weed, address, prefix, expired, forgets
        self.asked, self.begun = [], []

    def answer(self, request, _):
        self.asked.append(request)
        resource, = request["resources"]
        key = f"{self.prefix}{request['taskId']}-{resource['index']}"
        upload = resource.get("uploadId")
        if not upload or self.forgets:
            body = self.weed.request("POST", f"/{key}?uploads=")[2].decode()
            upload = body.split("<UploadId>")[1].split("<")[0]
            self.begun.append(upload)
        url = f"http://{self.address}/media/{key}"
        past = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)

        def sign(method, query, is_expired=False):
            return s3sig.presign(method, f"{url}?{query}", 300, now=past if is_expired else None)

        count = -(-resource["size"] // PART)
        is_first = len(self.asked) == 1
        parts = [{"number": number, "url": sign("PUT", f"partNumber={number}&uploadId={upload}",
                                                is_first and number in self.expired)}
                 for number in range(1, count + 1)]
        session = f"uploadId={upload}"
        return {"uploads": [{"index": resource["index"], "protocol": "multipart", "uploadId": upload, "partSize": PART,
                             "parts": parts, "listUrl": sign("GET", session), "completeUrl": sign("POST", session),
                             "abortUrl": sign("DELETE", session), "publicUrl": url}]}


class FormIssuer(Issuer):
    """Gives a POST policy for one fixed key."""

    def answer(self, request, _):
        self.asked.append(request)
        resource, = request["resources"]
        key = f"{self.prefix}{request['taskId']}-{resource['index']} ü"
        post = s3sig.post_policy(f"http://{self.address}/media", self.prefix, limit=resource["size"])
        post["fields"]["key"] = key
        return {"uploads": [{"index": resource["index"], "protocol": "form", "url": post["url"], "fields": post["fields"],
                             "publicUrl": f"http://{self.address}/media/{quote(key)}"}]}


class Form(StorageLine):
    def test_a_form_whose_answer_is_lost_is_posted_again_under_the_same_key(self):
        line = self.proxy("match=POST /media,eatreply=1")
        url = self.service(FormIssuer(self.weed, line.address, self.prefix).answer)
        engine = self.start_engine(self.storage_config({"type": "http", "url": url}))
        task = self.finish(engine, self.submit_file(engine, 3 << 20)["id"])
        self.assert_stored(task)
        self.assertEqual(len(line.requests("POST /media")), 2)
        self.assertIs(task["resources"][0]["upload"]["etagMatchesMd5"], True)


class Presigned(StorageLine):
    def start(self, *rules, **options):
        self.line = self.proxy(*rules)
        self.issuer = Issuer(self.weed, self.line.address, self.prefix, **options)
        self.path = self.storage_config({"type": "http", "url": self.service(self.issuer.answer)})
        return self.start_engine(self.path)

    def test_B042_urls_that_run_out_are_renewed_once_and_finished_parts_stay(self):
        engine = self.start(expired=(3, 4))
        task = self.finish(engine, self.submit_file(engine, 17 << 20)["id"])
        self.assert_stored(task)
        self.assertEqual(len(self.issuer.asked), 2)
        self.assertEqual(self.issuer.asked[1]["resources"][0]["uploadId"], self.issuer.begun[0])
        self.assertTrue(self.issuer.asked[1]["renew"])
        self.assertEqual(len(self.issuer.begun), 1)
        self.assertEqual(len(self.line.requests("partNumber=1&")), 1)
        self.assertEqual(task["attempt"], 1, "a refusal by expiry uses up no attempt")
        self.assert_no_secret(engine, task["id"])

    def test_B046_parts_of_two_uploads_are_never_mixed(self):
        engine = self.start(expired=(3,), forgets=True)
        task = self.finish(engine, self.submit_file(engine, 17 << 20)["id"])
        old, new = self.issuer.begun
        self.gone(self.prefix)
        self.assert_stored(task)
        complete = [entry for entry in self.line.requests("POST") if "uploadId" in entry["path"]]
        self.assertTrue(complete and all(new in entry["path"] for entry in complete))
        self.assertEqual(len([e for e in self.line.requests("partNumber=") if new in e["path"]]), 4)
        self.assertTrue([e for e in self.line.requests("DELETE") if old in e["path"]])

    def test_kill_9_goes_on_in_the_same_upload_by_urls_of_a_new_answer(self):
        engine = self.start("match=partNumber=3,stall=1000000,times=0")
        task = self.submit_file(engine, 17 << 20)
        self.line.wait("partNumber=3", passed=1_000_000)
        engine.kill()
        self.line.rules()
        task = self.finish(self.start_engine(self.path), task["id"])
        self.assert_stored(task)
        self.assertEqual(len(self.issuer.begun), 1)
        self.assertLessEqual(sum(entry["passed"] for entry in self.line.requests("partNumber=")),
                             task["resources"][0]["receipt"]["size"] + PART)

    def test_a_cancel_takes_the_upload_back_by_its_url(self):
        engine = self.start("match=partNumber=2,stall=1000000,times=0")
        task = self.submit_file(engine, 12 << 20)
        self.line.wait("partNumber=2", passed=1_000_000)
        engine.call("task/cancel", {"id": task["id"]})
        self.gone(self.prefix)


if __name__ == "__main__":
    unittest.main()
