"""The promises of the reference business service. Run: python3 Tests/Servers/test_business_service.py"""
import concurrent.futures
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from service_client import BusinessServiceProcess, content_md5, describe, path_and_query, receipt_text

TASK = {"taskId": "0190-task", "key": "k1", "account": "me", "kind": "feedPost", "attempt": 1}
PHOTO = b"\xff\xd8photo" + bytes(range(256)) * 400
COVER = b"\xff\xd8cover" + bytes(range(255, -1, -1)) * 300


class ServiceTestCase(unittest.TestCase):
    arguments = ()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.service = BusinessServiceProcess(self.root, "t0ken", self.arguments)
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(lambda: self.service.stop())
        self.resources = [describe(0, "a.jpg", "image/jpeg", PHOTO), describe(1, "b c/ü.jpg", "image/jpeg", COVER)]

    def issue(self, **members):
        status, _, answer = self.service.request("POST", "/uploads", TASK | {"resources": self.resources} | members)
        self.assertEqual(status, 200, answer)
        return answer["uploads"]

    def put(self, upload, content, headers=None, url=None):
        every = {"Content-MD5": content_md5(content)} | upload["headers"] | (headers or {})
        return self.service.request("PUT", path_and_query(url or upload["url"]), content, every)

    def upload_all(self):
        uploads = self.issue()
        for upload, content in zip(uploads, (PHOTO, COVER)):
            status, _, answer = self.put(upload, content)
            self.assertEqual(status, 201, answer)
        return uploads

    def delivery(self, uploads, receipts=None, **members):
        texts = receipts or [receipt_text(r, u["publicUrl"]) for r, u in zip(self.resources, uploads)]
        resources = [{"index": u["index"], "role": "image", "url": u["publicUrl"], "receipt": text}
                     for u, text in zip(uploads, texts)]
        return TASK | {"payload": {"text": "hello"}, "resources": resources} | members

    def send(self, delivery, key="0190-task", kind="feedPost"):
        return self.service.request("POST", f"/send/{kind}", delivery, {"Idempotency-Key": key} if key else {})

    def assertRefused(self, answer, status, code):
        self.assertEqual((answer[0], answer[2].get("code")), (status, code), answer[2])
        self.assertEqual(answer[1]["Content-Type"], "application/problem+json")
        self.assertNotIn("id", answer[2])


class CredentialsAndUploads(ServiceTestCase):
    def test_an_upload_can_be_read_back_with_its_type(self):
        uploads = self.issue()
        status, headers, _ = self.put(uploads[1], COVER)
        self.assertEqual((status, headers["ETag"]), (201, f'"{self.resources[1]["md5"]}"'))
        status, headers, content = self.service.request("GET", path_and_query(uploads[1]["publicUrl"]))
        self.assertEqual((status, headers["Content-Type"], content), (200, "image/jpeg", COVER))

    def test_without_the_token_nothing_is_issued(self):
        answer = self.service.request("POST", "/uploads", TASK, {"Authorization": "Bearer other"})
        self.assertRefused(answer, 401, "unauthorized")

    def test_renewing_gives_urls_that_work(self):
        renewed = self.issue(renew=True)
        self.assertEqual(self.put(renewed[0], PHOTO)[0], 201)

    def test_a_changed_url_is_refused(self):
        upload = self.issue()[0]
        for old, new in (("0-a.jpg", "0-z.jpg"), (f"size={len(PHOTO)}", "size=5"), ("signature=", "signature=0")):
            self.assertRefused(self.put(upload, PHOTO, url=upload["url"].replace(old, new)), 403, "signatureMismatch")
        self.assertEqual(list(self.root.rglob("0-*.jpg")), [])

    def test_other_bytes_than_promised_are_refused_and_leave_nothing(self):
        upload = self.issue()[0]
        other = PHOTO[:-1] + b"!"
        self.assertRefused(self.put(upload, other, {"Content-MD5": content_md5(PHOTO)}), 400, "digestMismatch")
        self.assertRefused(self.put(upload, other), 400, "digestMismatch")
        self.assertRefused(self.put(upload, PHOTO + b"!", {"Content-MD5": content_md5(PHOTO)}), 400, "sizeMismatch")
        self.assertRefused(self.put(upload, PHOTO, {"Content-Type": "text/html"}), 400, "typeMismatch")
        self.assertRefused(self.put(upload, PHOTO, {"Content-MD5": "?"}), 400, "digestMismatch")
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file() and path.name != "secret"], [])

    def test_a_path_that_leads_elsewhere_is_refused(self):
        for path in ("/objects/me/feedPost/../x", "/objects/me/feedPost/t/%2e%2e", "/objects/a%2Fb/c/d/e", "/objects/"):
            self.assertRefused(self.service.request("GET", path), 404, "badPath")
        request = TASK | {"account": "..", "resources": self.resources}
        self.assertRefused(self.service.request("POST", "/uploads", request), 400, "badRequest")

    def test_bad_credential_requests_are_refused_with_a_reason(self):
        for change in ({"mime": "image/jpeg\r\nX: y"}, {"size": -1}, {"size": True}, {"md5": "x"}, {"name": 7}):
            request = TASK | {"resources": [self.resources[0] | change]}
            self.assertRefused(self.service.request("POST", "/uploads", request), 400, "badRequest")
        self.assertRefused(self.service.request("POST", "/uploads", b"{"), 400, "badRequest")

    def test_urls_survive_a_restart(self):
        upload = self.issue()[0]
        self.service.stop(kill=True)
        self.service = BusinessServiceProcess(self.root, "t0ken", ["--port", str(self.service.port)])
        self.assertEqual(self.put(upload, PHOTO)[0], 201)


class ExpiredCredentials(ServiceTestCase):
    arguments = ("--ttl-ms", "0")

    def test_an_expired_url_is_refused(self):
        self.assertRefused(self.put(self.issue()[0], PHOTO), 403, "urlExpired")


class Deliveries(ServiceTestCase):
    def test_a_delivery_is_published_once_however_often_it_comes(self):
        uploads = self.upload_all()
        status, _, first = self.send(self.delivery(uploads))
        self.assertEqual(status, 201)
        status, _, again = self.send(self.delivery(uploads, attempt=2))
        self.assertEqual((status, again), (200, first))
        posts = self.service.posts()
        self.assertEqual([post["id"] for post in posts], [first["id"]])
        self.assertEqual(posts[0]["delivery"]["payload"], {"text": "hello"})

    def test_of_many_equal_deliveries_at_once_one_is_published(self):
        delivery = self.delivery(self.upload_all())
        # All sixteen have been checked and stand before the door when it opens.
        self.service.faults({"action": "hold", "name": "door", "match": {"path": "/send"}})
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = [pool.submit(self.send, delivery) for _ in range(16)]
            self.service.wait("POST", "/send", "held", count=16)
            self.service.release("door")
            results = [answer.result() for answer in answers]
        self.assertEqual(sorted(status for status, _, _ in results), [200] * 15 + [201])
        self.assertEqual(len({body["id"] for _, _, body in results}), 1)
        self.assertEqual(len(self.service.posts()), 1)

    def test_the_same_key_with_other_content_is_a_conflict(self):
        uploads = self.upload_all()
        self.send(self.delivery(uploads))
        self.assertRefused(self.send(self.delivery(uploads, payload={"text": "other"})), 409, "keyConflict")

    def test_an_answer_that_got_lost_is_given_again(self):
        delivery = self.delivery(self.upload_all())
        self.service.faults({"action": "reset_after_store", "match": {"path": "/send"}, "times": 1})
        with self.assertRaises((ConnectionError, http.client.HTTPException)):
            self.send(delivery)
        status, _, answer = self.send(delivery)
        self.assertEqual(status, 200)
        self.assertEqual([post["id"] for post in self.service.posts()], [answer["id"]])
        self.assertEqual([entry["outcome"] for entry in self.service.log()[-3:-1]], ["reset", "answered"])

    def test_posts_survive_a_kill(self):
        delivery = self.delivery(self.upload_all())
        _, _, first = self.send(delivery)
        self.service.stop(kill=True)
        self.service = BusinessServiceProcess(self.root, "t0ken", ["--port", str(self.service.port)])
        self.assertEqual(self.send(delivery)[2], first)

    def test_a_receipt_that_does_not_fit_the_stored_bytes_is_refused(self):
        uploads = self.upload_all()
        good = [receipt_text(r, u["publicUrl"]) for r, u in zip(self.resources, uploads)]
        for change in ({"size": 1}, {"md5": "0" * 32}, {"sha256": "0" * 64}, {"mime": "image/png"}):
            bad = receipt_text(self.resources[1], uploads[1]["publicUrl"], **change)
            answer = self.send(self.delivery(uploads, [good[0], bad]))
            self.assertRefused(answer, 422, "receiptMismatch")
            self.assertEqual(answer[2]["resource"], 1)
        self.assertEqual(self.service.posts(), [])

    def test_a_receipt_must_be_canonical_and_complete(self):
        uploads = self.upload_all()
        good = [receipt_text(r, u["publicUrl"]) for r, u in zip(self.resources, uploads)]
        spaced = json.dumps(json.loads(good[0]))
        for bad in (spaced, "{", None, good[0].replace('"v":1', '"v":2'), receipt_text(self.resources[0], "u", extra=1),
                    receipt_text(self.resources[0], uploads[0]["publicUrl"], sha256=None)):
            self.assertRefused(self.send(self.delivery(uploads, [bad, good[1]])), 422, "badReceipt")

    def test_changed_stored_bytes_are_noticed(self):
        uploads = self.upload_all()
        stored = next(self.root.rglob("0-a.jpg"))
        stored.write_bytes(PHOTO[:-1] + b"!")
        self.assertRefused(self.send(self.delivery(uploads)), 422, "receiptMismatch")
        stored.unlink()
        self.assertRefused(self.send(self.delivery(uploads)), 422, "objectMissing")

    def test_an_object_of_another_task_is_no_proof(self):
        uploads = self.upload_all()
        other = TASK | {"taskId": "0190-other"}
        self.assertRefused(self.send(self.delivery(uploads) | other, key="0190-other"), 422, "receiptMismatch")

    def test_a_piece_may_be_missing_only_when_it_is_named_as_failed(self):
        uploads = self.upload_all()
        first = self.delivery(uploads)["resources"][:1]
        both = self.delivery(uploads)["resources"]
        self.assertRefused(self.send(self.delivery(uploads, resources=both[1:])), 422, "resourcesMismatch")
        self.assertRefused(self.send(self.delivery(uploads, resources=both[::-1])), 422, "resourcesMismatch")
        self.assertRefused(self.send(self.delivery(uploads, resources=[])), 422, "resourcesMismatch")
        failed = [{"index": 1, "code": "damaged", "message": "…"}]
        self.assertEqual(self.send(self.delivery(uploads, resources=first, failed=failed))[0], 201)

    def test_key_and_kind_must_be_those_of_the_body(self):
        delivery = self.delivery(self.upload_all())
        self.assertRefused(self.send(delivery, key=None), 400, "keyRequired")
        self.assertRefused(self.send(delivery, key="another"), 400, "badRequest")
        self.assertRefused(self.send(delivery, kind="log"), 400, "badRequest")


class Faults(ServiceTestCase):
    def test_a_scripted_status_comes_as_often_as_told_and_leaves_the_first_alone(self):
        self.service.faults({"action": "status", "status": 503, "code": "busy", "retryAfter": 7, "skip": 1, "times": 2,
                             "match": {"method": "GET", "path": "/posts"}})
        answers = [self.service.request("GET", "/posts") for _ in range(4)]
        self.assertEqual([status for status, _, _ in answers], [200, 503, 503, 200])
        self.assertEqual((answers[1][1]["Retry-After"], answers[1][2]["code"]), ("7", "busy"))

    def test_an_early_answer_arrives_although_the_body_was_not_read(self):
        upload = self.issue()[0]
        self.service.faults({"action": "status", "status": 413, "early": True, "match": {"method": "PUT"}})
        self.assertEqual(self.put(upload, PHOTO)[0], 413)
        self.assertEqual(self.service.log()[-1]["bodyBytes"], 0)

    def test_a_stalled_upload_goes_on_when_released(self):
        uploads = self.issue()
        self.service.faults({"action": "stall", "bytes": 1000, "skip": 1, "match": {"method": "PUT"}})
        self.assertEqual(self.put(uploads[0], PHOTO)[0], 201)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.put, uploads[1], COVER)
            held = self.service.wait("PUT", "/objects", "held")
            self.assertEqual([entry["bodyBytes"] for entry in held], [1000])
            self.assertEqual(list(self.root.rglob("1-*")), [])
            self.service.release()
            self.assertEqual(answer.result()[0], 201)

    def test_a_client_that_goes_away_leaves_nothing(self):
        upload = self.issue()[0]
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port)
        connection.putrequest("PUT", path_and_query(upload["url"]))
        connection.putheader("Content-Type", "image/jpeg")
        connection.putheader("Content-Length", str(len(PHOTO)))
        connection.endheaders(PHOTO[:5000])
        self.service.wait("PUT", "/objects", "receiving")
        connection.close()
        entry = self.service.wait("PUT", "/objects", "finished")[0]
        self.assertEqual((entry["outcome"], entry["status"]), ("clientGone", None))
        self.assertEqual(list(self.root.rglob("*.jpg")) + list(self.root.rglob("*.part")), [])

    def test_held_after_the_work_the_object_is_there_before_the_answer(self):
        upload = self.issue()[0]
        self.service.faults({"action": "hold", "at": "answer", "match": {"method": "PUT"}})
        thread = threading.Thread(target=self.put, args=(upload, PHOTO))
        thread.start()
        self.service.wait("PUT", "/objects", "held")
        self.assertEqual(self.service.request("GET", path_and_query(upload["publicUrl"]))[2], PHOTO)
        self.service.release()
        thread.join()

    def test_a_reset_before_the_work_leaves_no_trace(self):
        upload = self.issue()[0]
        self.service.faults({"action": "reset_before", "match": {"method": "PUT"}})
        with self.assertRaises((ConnectionError, http.client.HTTPException)):
            self.put(upload, PHOTO)
        self.assertEqual(list(self.root.rglob("*.jpg")), [])

    def test_throttled_bytes_arrive_whole(self):
        upload = self.issue()[0]
        self.service.faults({"action": "throttle", "bytesPerSecond": 2_000_000, "match": {"method": "PUT"}})
        self.assertEqual(self.put(upload, PHOTO)[0], 201)

    def test_the_log_holds_bodies_and_keys_but_no_secrets(self):
        self.send(self.delivery(self.upload_all()))
        text = json.dumps(self.service.log())
        self.assertNotIn("t0ken", text)
        self.assertNotIn("signature", text)
        entry = self.service.log()[-1]
        self.assertEqual((entry["path"], entry["headers"]["Idempotency-Key"]), ("/send/feedPost", "0190-task"))
        self.assertEqual(entry["json"]["payload"], {"text": "hello"})

    def test_an_unknown_rule_is_refused(self):
        with self.assertRaises(ValueError):
            self.service.faults({"action": "explode"})

    def test_waiting_in_vain_ends(self):
        with self.assertRaises(TimeoutError):
            self.service.wait("PUT", "/objects", "started", timeout_ms=1)


class Documentation(ServiceTestCase):
    def test_the_shell_session_of_the_contract_page_works(self):
        page = Path(__file__).parents[2] / "docs" / "server-contract.md"
        session = "\n".join(re.findall(r"```sh session\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
        self.assertIn("curl", session)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "BASE": self.service.url, "TOKEN": "t0ken"}
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", session], env=environment, cwd=folder, text=True,
                                    capture_output=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.service.posts()), 1, result.stdout)


def main():
    """Runs everything and closes with one line that a machine can read too."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    passed = result.testsRun - bad - len(result.skipped)
    sys.stderr.flush()
    print(f"service: {passed} passed, {bad} failed, {len(result.skipped)} skipped", flush=True)
    return 1 if bad or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
