"""Multipart uploads to a real S3 server (SeaweedFS), over a line and beside an engine that break at chosen moments."""
import hashlib
import http.server
import json
import os
import threading
import unittest

from harness import Line  # before what it puts on the path
import s3sig
from storage import KEY, SECRET, Proxy, Weed

PART = 5 << 20


class StorageLine(Line):
    """One server for the tests of a class; every test has a prefix of its own."""

    @classmethod
    def setUpClass(cls):
        import shutil
        import tempfile
        folder = tempfile.mkdtemp(prefix="taskcenter-weed-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.weed = Weed(folder)
        cls.addClassCleanup(cls.weed.stop)

    def setUp(self):
        super().setUp()
        self.prefix = self.id().rsplit(".", 1)[-1] + "/"

    def proxy(self, *rules):
        proxy = Proxy(self.weed.address, *rules)
        self.addCleanup(proxy.stop)
        return proxy

    def bucket_config(self, address, **sections):
        upload = {"protocol": "multipart", "endpoint": f"http://{address}", "region": "us-east-1", "bucket": "media",
                  "keyPrefix": self.prefix, "pathStyle": True, "accessKeyId": KEY, "secretAccessKey": "${env:S3_SECRET}"}
        return self.storage_config({"type": "static", "upload": upload}, **sections)

    def storage_config(self, credential, slots=1, **sections):
        path = self.config(None, uploads={"slots": slots, "partSize": PART}, **sections)
        config = json.loads(path.read_text())
        config["destinations"] = {"bucket": {"credential": credential,
                                             "delivery": {"type": "journal", "path": str(self.folder / "sent.jsonl")}}}
        config["accounts"] = {"default": {"destination": "bucket"}}
        path.write_text(json.dumps(config))
        return path

    def environment(self):
        return super().environment() | {"S3_SECRET": SECRET}

    def submit_file(self, engine, size, **more):
        source = self.folder / "source.bin"
        source.write_bytes(os.urandom(size))
        return engine.call("task/submit", {"kind": "log", "resources": [{"source": {"paths": [str(source)]}}], **more})["task"]

    def assert_stored(self, task):
        receipt = task["resources"][0]["receipt"]
        key, = self.weed.keys(self.prefix)
        content = self.weed.get(key)
        self.assertEqual((len(content), hashlib.md5(content).hexdigest()), (receipt["size"], receipt["md5"]))
        self.assertEqual(self.weed.open_uploads(self.prefix), {})
        lines = (self.folder / "sent.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["taskId"] for line in lines], [task["id"]])
        return receipt

    def assert_no_secret(self, engine, task_id):
        told = json.dumps([engine.call("task/get", {"id": task_id}), engine.call("task/history", {"id": task_id}),
                           engine.notifications]) + self.log.read_text(errors="replace")
        for secret in (SECRET, "X-Amz-Signature", "AWS4-HMAC"):
            self.assertNotIn(secret, told)

    def gone(self, prefix):
        """Returns once no upload below `prefix` is open; the reaper works in the background."""
        import time
        deadline = time.monotonic() + 30
        while self.weed.open_uploads(prefix):
            self.assertLess(time.monotonic(), deadline, "the upload was not taken back")
            time.sleep(0.05)


class Multipart(StorageLine):
    def test_a_large_file_arrives_in_parts_and_no_secret_is_told(self):
        engine = self.start_engine(self.bucket_config(self.weed.address, slots=3))
        task = self.submit_file(engine, 12 << 20)
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        task = self.finish(engine, task["id"])
        self.assertRegex(self.assert_stored(task)["etag"], "^[0-9a-f]{32}-3$")
        self.assert_no_secret(engine, task["id"])
        self.assertNotIn(SECRET.encode(), (self.store / "taskcenter.db").read_bytes())

    def test_a_small_file_is_one_request_and_its_tag_is_its_md5(self):
        proxy = self.proxy()
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 1000)["id"])
        self.assert_stored(task)
        self.assertIs(task["resources"][0]["upload"]["etagMatchesMd5"], True)
        self.assertEqual([entry["method"] for entry in proxy.requests()], ["PUT"])

    def test_B001_B010_after_kill_9_the_same_upload_goes_on_and_only_the_open_part_is_sent_again(self):
        proxy = self.proxy("match=partNumber=3,stall=4000000,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 22 << 20)
        proxy.wait("partNumber=3", passed=4_000_000)
        engine.kill()
        proxy.rules()
        first = proxy.requests("partNumber=")
        proxy.reset()
        engine = self.start_engine(config)
        task = self.finish(engine, task["id"])
        self.assert_stored(task)
        self.assertEqual(proxy.requests("POST /media/" + self.prefix + task["id"] + "/0-")[-1]["path"].count("uploads"), 0)
        again = proxy.requests("partNumber=")
        self.assertEqual(len(again), 3, "parts 3, 4 and 5")
        ids = {entry["path"].split("uploadId=")[1] for entry in first + again}
        self.assertEqual(len(ids), 1)
        passed = sum(entry["passed"] for entry in first + again)
        self.assertLessEqual(passed, task["resources"][0]["receipt"]["size"] + PART)

    def test_kill_9_with_three_connections_costs_a_part_for_each_at_most(self):
        proxy = self.proxy("match=partNumber=4,stall=1000000,times=0")
        config = self.bucket_config(proxy.address, slots=3)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 32 << 20)
        proxy.wait("partNumber=4", passed=1_000_000)
        engine.kill()
        proxy.rules()
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        passed = sum(entry["passed"] for entry in proxy.requests("partNumber="))
        self.assertLessEqual(passed, task["resources"][0]["receipt"]["size"] + 3 * PART)

    def test_a_server_that_dies_and_comes_back_is_gone_on_with(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.submit_file(engine, 17 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        self.weed.kill()
        self.weed.start()
        proxy.rules()
        task = self.finish(engine, task["id"])
        self.assert_stored(task)
        self.assertLessEqual(sum(entry["passed"] for entry in proxy.requests("partNumber=")),
                             task["resources"][0]["receipt"]["size"] + PART)

    def test_B014_an_upload_that_the_server_forgot_begins_anew(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        engine.kill()
        (key, old), = self.weed.open_uploads(self.prefix).items()
        self.weed.request("DELETE", f"/{key}?uploadId={old}")
        proxy.rules()
        proxy.reset()
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("uploads=")), 1)
        complete = proxy.requests("POST")[-1]
        self.assertNotIn(old, complete["path"])
        self.assertEqual(len([entry for entry in proxy.requests("partNumber=") if old not in entry["path"]]), 3)

    def test_B015_a_lost_complete_and_then_no_such_upload_is_success_without_sending_again(self):
        missing = "match=uploadId=,status=404,times=0,body=<Error><Code>NoSuchUpload</Code></Error>"
        proxy = self.proxy("match=POST /media,skip=1,eatreply=1,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("POST", count=2)
        engine.kill()
        # The server has joined the parts, or will have; either way the answer is lost.
        self.gone(self.prefix)
        sent = len(proxy.requests("partNumber="))
        proxy.rules(missing)
        task = self.finish(self.start_engine(config), task["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("partNumber=")), sent)
        self.assertTrue(proxy.requests("HEAD"))

    def test_an_error_under_status_200_is_no_success(self):
        proxy = self.proxy("match=POST /media,skip=1,status=200,body=<Error><Code>InternalError</Code></Error>")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"])
        self.assert_stored(task)
        self.assertEqual(len(proxy.requests("partNumber=")), 3, "only Complete is repeated")

    def test_B017_bytes_of_a_part_that_is_cut_three_times_are_counted_once(self):
        proxy = self.proxy("match=partNumber=2,cut=4000000,times=4")
        engine = self.start_engine(self.bucket_config(proxy.address))
        engine.call("event/subscribe", {"progressIntervalMs": 1})
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"])
        size = self.assert_stored(task)["size"]
        told = [note["params"] for note in engine.notifications if note.get("method") == "task/progress"]
        self.assertTrue(told)
        self.assertLessEqual(max(one["bytesDone"] for one in told), size)
        fractions = [one["progress"] for one in told]
        self.assertEqual(fractions, sorted(fractions))

    def test_B051_a_cancel_takes_the_upload_back(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        self.assertEqual(len(self.weed.open_uploads(self.prefix)), 1)
        self.assertEqual(engine.call("task/cancel", {"id": task["id"]})["task"]["state"], "canceled")
        self.gone(self.prefix)
        self.assertEqual(self.weed.keys(self.prefix), [])

    def test_B051_what_could_not_be_taken_back_is_taken_back_after_a_restart(self):
        proxy = self.proxy("match=partNumber=3,stall=1000000,times=0", "match=DELETE,status=503,times=0")
        config = self.bucket_config(proxy.address)
        engine = self.start_engine(config)
        task = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=3", passed=1_000_000)
        engine.call("task/cancel", {"id": task["id"]})
        proxy.wait("DELETE")
        engine.kill()
        self.assertEqual(len(self.weed.open_uploads(self.prefix)), 1)
        proxy.rules()
        self.start_engine(config)
        self.gone(self.prefix)

    def test_B022_a_canceled_upload_to_a_silent_server_gives_its_slot_back(self):
        proxy = self.proxy("match=partNumber=1,stall=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        silent = self.submit_file(engine, 12 << 20)
        proxy.wait("partNumber=1")
        other = engine.call("task/submit", {"kind": "avatar", "resources": [{"source": {"path": str(self.photos(1)[0])}}]})
        self.assertEqual(engine.call("task/cancel", {"id": silent["id"]})["task"]["state"], "canceled")
        self.finish(engine, other["task"]["id"])

    def test_B066_a_permanent_refusal_is_not_repeated_and_the_upload_is_taken_back(self):
        proxy = self.proxy("match=partNumber=2,status=413,times=0")
        engine = self.start_engine(self.bucket_config(proxy.address))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"], "failed")
        self.assertEqual((task["failure"]["code"], task["failure"]["httpStatus"]), ("rejected", 413))
        self.assertEqual(len(proxy.requests("partNumber=2")), 1)
        self.gone(self.prefix)

    def test_a_task_that_uses_up_its_attempts_is_taken_back_and_a_retry_begins_anew(self):
        proxy = self.proxy("match=partNumber=2,status=500,times=0")
        retry = {"resourceRetries": 0, "baseMs": 20, "capMs": 20, "attempts": 2, "networkProbeMs": 50}
        engine = self.start_engine(self.bucket_config(proxy.address, retry=retry))
        task = self.finish(engine, self.submit_file(engine, 12 << 20)["id"], "failed")
        self.gone(self.prefix)
        proxy.rules()
        engine.call("task/retry", {"id": task["id"]})
        self.assert_stored(self.finish(engine, task["id"]))


class Issuer:
    """Presigns multipart uploads as a business service does, and remembers what it was asked.

    - Parameter expired: numbers of the parts whose URL of the first answer is too old already."""

    def __init__(self, weed, address, prefix, expired=(), forgets=False):
        self.weed, self.address, self.prefix, self.expired, self.forgets = weed, address, prefix, expired, forgets
        self.asked, self.begun = [], []
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps(issuer.answer(request)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/uploads"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        import datetime
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


class Presigned(StorageLine):
    def start(self, *rules, **options):
        self.line = self.proxy(*rules)
        self.issuer = Issuer(self.weed, self.line.address, self.prefix, **options)
        self.addCleanup(self.issuer.server.shutdown)
        self.path = self.storage_config({"type": "http", "url": self.issuer.url})
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
