#!/usr/bin/env python3
"""The reference business service: what the other end of taskcenter has to do, in a file to be read in one sitting.

It issues upload credentials, stores what is uploaded, checks the receipts of a delivery against the stored bytes, and
publishes each delivery exactly once. docs/server-contract.md tells the same in words. What a real service has beyond
this (users, a database, an object store of its own) would replace `Objects` and `Posts`; the checks stay.

  POST /uploads                                        who asks may upload these files for this task
  PUT  /objects/{account}/{kind}/{taskId}/{index}-{name}?expires=…&size=…&md5=…&type=…&signature=…
  GET  /objects/…                                      the stored file
  POST /send/{kind}                                    publish, once per Idempotency-Key
  GET  /posts                                          what was published, oldest first (for tests)

usage: business_service.py [--port 0] --root DIR [--token T] [--log FILE] [--faults JSON] [--ttl-ms N] [--base-url URL]
Listens on 127.0.0.1 only and prints `ready PORT` when it does. Faults for tests: see scripted_http.py.
"""
import argparse
import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
import signal
import sys
import time
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

from durable_files import staged
from request_script import Answer, Problem, now_ms
from scripted_http import ScriptedHandler, ScriptedServer

MAX_OBJECT = 4 << 30
KINDS = ("feedPost", "chatVideo", "message", "avatar", "log")
# What a receipt may say (docs/server-contract.md). A field that nobody knows is refused rather than trusted.
RECEIPT_REQUIRED = {"v", "url", "mime", "size", "md5", "sha256", "name"}
RECEIPT_OPTIONAL = {"etag", "width", "height", "durationMs"}


def canonical(value):
    """Canonical JSON (RFC 8785), for values without fractions: one content, one text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def need(condition, code, detail, status=400, **members):
    if not condition:
        raise Problem(status, code, detail, **members)


def persistent_secret(path):
    """URLs that were signed before a restart stay good after it."""
    with staged(path) as file:
        file.write(secrets.token_bytes(32))
        file.place_once()
    return path.read_bytes()


class Objects:
    """File storage with presigned URLs: who holds a URL may put exactly the promised bytes at exactly that place."""

    def __init__(self, root, base_url, ttl_ms):
        self.root, self.base_url, self.ttl_ms = root, base_url, ttl_ms
        self.secret = persistent_secret(root / "secret")

    def signature(self, path, expires, size, md5, mime):
        text = "\n".join([path, expires, size, md5, mime])
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def public_url(self, path):
        return self.base_url + quote(path)

    def presign(self, path, resource, expires):
        fields = [str(expires), str(resource["size"]), resource["md5"], resource["mime"]]
        query = dict(zip(("expires", "size", "md5", "type"), fields), signature=self.signature(path, *fields))
        return f"{self.public_url(path)}?{urlencode(query)}"

    def file(self, path):
        """Where an object lies. - Raises Problem for a path that would lead elsewhere."""
        parts = path.split("/")
        is_plain = len(parts) == 6 and all(part not in ("", ".", "..") and "\0" not in part for part in parts[2:])
        need(path.startswith("/objects/") and is_plain, "badPath", "no object can have this path", 404)
        return self.root.joinpath(*parts[1:])

    def mime_file(self, file):
        return file.with_name(f".{file.name}.type")

    def put(self, path, query, headers, body):
        """Checks before the body what can be checked, then digest by digest while it comes in."""
        file = self.file(path)
        expires, size, md5, mime = (query.get(name, "") for name in ("expires", "size", "md5", "type"))
        expected = self.signature(path, expires, size, md5, mime)
        need(hmac.compare_digest(expected, query.get("signature", "")), "signatureMismatch",
             "the URL was not signed here, or was changed", 403)
        need(int(expires) > now_ms(), "urlExpired", "the URL has expired; ask for a new one", 403)
        need(body.length is not None, "lengthRequired", "an upload needs a Content-Length", 411)
        need(body.length == int(size), "sizeMismatch", f"{size} bytes were promised, Content-Length is {body.length}")
        need(headers.get("Content-Type") == mime, "typeMismatch", f"the URL is for Content-Type {mime}")
        if headers["Content-MD5"]:
            need(decoded_md5(headers["Content-MD5"]) == md5, "digestMismatch", "Content-MD5 is not what was promised")

        digest = hashlib.md5()
        with staged(file) as output:
            while chunk := body.read():
                digest.update(chunk)
                output.write(chunk)
            need(digest.hexdigest() == md5, "digestMismatch", "the bytes that came are not those that were promised")
            # Putting the same object twice is fine: the second one replaces the first by equal bytes.
            with staged(self.mime_file(file)) as note:
                note.write(mime.encode())
                note.place()
            output.place()
        return Answer(201, {}, headers={"ETag": f'"{md5}"'})

    def get(self, path):
        file = self.file(path)
        need(file.is_file(), "notFound", "there is no such object", 404)
        return Answer(200, file=file, content_type=self.mime_file(file).read_text(),
                      headers={"X-Content-Type-Options": "nosniff"})

    def facts(self, path):
        """What is really stored, read from the bytes and not from what anybody said. None where nothing is."""
        file = self.file(path)
        if not file.is_file():
            return None
        md5, sha256, size = hashlib.md5(), hashlib.sha256(), 0
        with file.open("rb") as stored:
            while chunk := stored.read(1 << 20):
                size += len(chunk)
                md5.update(chunk)
                sha256.update(chunk)
        return {"size": size, "md5": md5.hexdigest(), "sha256": sha256.hexdigest(),
                "mime": self.mime_file(file).read_text()}


def decoded_md5(text):
    try:
        return base64.b64decode(text, validate=True).hex()
    except binascii.Error:
        raise Problem(400, "digestMismatch", "Content-MD5 is not base64") from None


class Posts:
    """What was published: one file per idempotency key, so that the key itself is what can exist only once."""

    def __init__(self, root):
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def file(self, key):
        return self.root / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def find(self, key):
        file = self.file(key)
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def add(self, key, digest, delivery):
        """- Returns the post of this key, and whether it is this call that made it."""
        post = {"id": f"post-{secrets.token_hex(8)}", "key": key, "digest": digest, "acceptedNs": time.time_ns(),
                "delivery": delivery}
        with staged(self.file(key)) as file:
            file.write(json.dumps(post).encode())
            is_new = file.place_once()
        return (post if is_new else self.find(key)), is_new

    def all(self):
        posts = [json.loads(file.read_text(encoding="utf-8")) for file in self.root.glob("[0-9a-f]*.json")]
        return sorted(posts, key=lambda post: post["acceptedNs"])


class BusinessService:
    def __init__(self, root, base_url, token, ttl_ms):
        self.objects, self.posts, self.token = Objects(root, base_url, ttl_ms), Posts(root / "posts"), token

    def issue(self, request):
        """Credentials for the resources named. `renew` needs no special care here: a fresh signature is all it takes,
        because a single PUT leaves nothing half done behind."""
        task = read_task(request)
        resources = request.get("resources")
        need(isinstance(resources, list) and resources, "badRequest", "resources must be a list with elements")
        expires = now_ms() + self.objects.ttl_ms
        uploads = []
        for resource in resources:
            read_resource(resource)
            path = task_folder(task) + object_name(resource)
            uploads.append({
                "index": resource["index"], "protocol": "put", "url": self.objects.presign(path, resource, expires),
                "headers": {"Content-Type": resource["mime"]}, "publicUrl": self.objects.public_url(path)})
        return Answer(200, {"expiresAt": expires, "uploads": uploads})

    def accept(self, kind, key, delivery):
        """Publishes once per key. The order matters: a repeated delivery is recognised before anything is checked, so
        that it is confirmed even where the objects have meanwhile been moved."""
        need(key, "keyRequired", "a delivery needs an Idempotency-Key")
        task = read_task(delivery)
        need(task["kind"] == kind and task["taskId"] == key, "badRequest",
             "the kind in the URL and the Idempotency-Key must be those of the body")
        # `attempt` counts tries; everything else must be the same in each of them.
        content = canonical({name: value for name, value in delivery.items() if name != "attempt"})
        digest = hashlib.sha256(content.encode()).hexdigest()
        post, is_new = self.posts.find(key), False
        if post is None:
            self.check_resources(task, delivery)
            post, is_new = self.posts.add(key, digest, delivery)
        need(post["digest"] == digest, "keyConflict", "this key was used for another content", 409)
        return Answer(201 if is_new else 200, {"id": post["id"]})

    def check_resources(self, task, delivery):
        resources, failed = delivery.get("resources", []), delivery.get("failed", [])
        need(isinstance(resources, list) and isinstance(failed, list), "badRequest", "resources must be a list")
        need(all(isinstance(entry, dict) and type(entry.get("index")) is int for entry in resources + failed),
             "badRequest", "every resource needs an index")
        indices, gone = [entry["index"] for entry in resources], [entry["index"] for entry in failed]
        need(indices == sorted(set(indices)) and sorted(indices + gone) == list(range(len(indices + gone))),
             "resourcesMismatch", "resources must be in order, and one that is missing must be named as failed", 422)
        has_text = isinstance(delivery.get("payload"), dict) and bool(delivery["payload"].get("text"))
        need(resources or (task["kind"] == "message" and has_text), "resourcesMismatch", "nothing to publish", 422)
        for resource in resources:
            self.check_receipt(task, resource)

    def check_receipt(self, task, resource):
        index = resource["index"]

        def check(condition, detail, code="receiptMismatch"):
            need(condition, code, f"resource {index}: {detail}", 422, resource=index)

        text = resource.get("receipt")
        try:
            receipt = json.loads(text)
        except (TypeError, ValueError):
            receipt = None
        check(isinstance(receipt, dict), "the receipt is not a JSON text", "badReceipt")
        check(canonical(receipt) == text, "the receipt is not canonical JSON", "badReceipt")
        check(RECEIPT_REQUIRED <= receipt.keys() <= RECEIPT_REQUIRED | RECEIPT_OPTIONAL and receipt["v"] == 1,
              "the receipt does not have the fields of version 1", "badReceipt")
        url = receipt["url"]
        check(isinstance(url, str) and resource.get("url") == url, "the receipt is for another URL")
        # The object must be one that was issued for this very resource, not any that happens to exist.
        place = self.objects.public_url(task_folder(task) + f"{index}-")
        check(url.startswith(place), "the URL was not issued for this resource")
        stored = self.objects.facts(unquote(url.removeprefix(self.objects.base_url)))
        check(stored is not None, "nothing is stored at the URL", "objectMissing")
        for name, value in stored.items():
            check(receipt[name] == value, f"{name} is {receipt[name]!r} in the receipt and {value!r} in storage")


def read_task(request):
    task = {name: request.get(name) for name in ("taskId", "account", "kind")}
    need(all(isinstance(value, str) and is_segment(value) for value in task.values()), "badRequest",
         "taskId, account and kind must be strings without slashes")
    need(task["kind"] in KINDS, "badRequest", f"unknown kind; known: {', '.join(KINDS)}")
    return task


def read_resource(resource):
    need(isinstance(resource, dict), "badRequest", "a resource must be an object")
    for name in ("index", "size"):
        need(type(resource.get(name)) is int and resource[name] >= 0, "badRequest", f"{name} must be a whole number")
    patterns = {"name": ".+", "mime": "[!-~]+/[ -~]+", "md5": "[0-9a-f]{32}", "sha256": "[0-9a-f]{64}"}
    for name, pattern in patterns.items():
        value = resource.get(name)
        need(isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL), "badRequest", f"{name} is not right")
    need(resource["size"] <= MAX_OBJECT, "tooLarge", f"a file may have at most {MAX_OBJECT} bytes", 413)


def is_segment(text):
    return text.isprintable() and text not in ("", ".", "..") and "/" not in text and len(text.encode()) <= 200


def task_folder(task):
    return f"/objects/{task['account']}/{task['kind']}/{task['taskId']}/"


def object_name(resource):
    """Of the name only what is harmless in a path; the index makes it unique."""
    name = "".join(letter if letter.isprintable() and letter != "/" else "_" for letter in resource["name"])
    return f"{resource['index']}-" + name.encode()[-180:].decode(errors="ignore")


class Handler(ScriptedHandler):
    def respond(self, method, path, query):
        service = self.server.service
        path = unquote(path)
        if path.startswith("/objects/"):
            # No token: here the signature in the URL is the right, and reading is public.
            if method == "PUT":
                return service.objects.put(path, query, self.headers, self.body)
            need(method in ("GET", "HEAD"), "methodNotAllowed", "objects can be put and read", 405)
            return service.objects.get(path)
        # A real service also checks that whoever holds this token may act for the account in the body.
        given = self.headers["Authorization"] or ""
        if service.token and not hmac.compare_digest(given.encode(), f"Bearer {service.token}".encode()):
            raise Problem(401, "unauthorized", "a valid token is needed", {"WWW-Authenticate": "Bearer"})
        if (method, path) == ("POST", "/uploads"):
            return service.issue(self.body.json())
        if method == "POST" and path.startswith("/send/"):
            return service.accept(path.removeprefix("/send/"), self.headers["Idempotency-Key"], self.body.json())
        if (method, path) == ("GET", "/posts"):
            return Answer(200, {"posts": service.posts.all()})
        raise Problem(404, "notFound", "there is nothing here")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: the system chooses")
    parser.add_argument("--root", type=Path, required=True, help="folder for objects and posts; survives restarts")
    parser.add_argument("--token", help="what clients must send as Authorization: Bearer")
    parser.add_argument("--log", help="file that gets one JSON line per finished request")
    parser.add_argument("--faults", type=json.loads, default=[], help="rules to begin with")
    parser.add_argument("--base-url", help="what clients reach it by, where something stands between")
    parser.add_argument("--ttl-ms", type=int, default=900_000, help="how long upload URLs live")
    options = parser.parse_args()
    options.root.mkdir(parents=True, exist_ok=True)
    server = ScriptedServer(options.port, Handler, options.faults, options.log)
    base_url = options.base_url or f"http://127.0.0.1:{server.server_port}"
    server.service = BusinessService(options.root, base_url, options.token, options.ttl_ms)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"ready {server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
