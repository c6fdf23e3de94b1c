#!/usr/bin/env python3
"""s3sig.py - SigV4 for S3 with the standard library only: the tests' stand-in for a business server that issues credentials.

  s3sig.py presign METHOD URL [--expires 300] [--header 'content-type: image/png' ...]   prints a presigned URL
  s3sig.py request METHOD URL [--header ...] [--data FILE]                                sends a signed request, prints status, headers, body
  s3sig.py post BUCKETURL --key-prefix PFX [--type T] [--max N]                           prints url + form fields (JSON) for a POST upload

URL is path style with the key already percent-encoded the AWS way (everything but A-Z a-z 0-9 - . _ ~ / is %XX, upper case).
Keys come from S3_KEY / S3_SECRET (default: the admin key of start-weed.sh), the region from S3_REGION (us-east-1).
"""
import argparse, base64, datetime, hashlib, hmac, http.client, json, os, sys
from urllib.parse import quote, unquote, urlsplit

KEY = os.environ.get("S3_KEY", "testkey")
SECRET = os.environ.get("S3_SECRET", "testsecret0123456789")
REGION = os.environ.get("S3_REGION", "us-east-1")


def enc(s, slash=False):
    return quote(s, safe="-._~" + ("/" if slash else ""))


def canonical_query(q):
    pairs = []
    for part in filter(None, q.split("&")):
        k, _, v = part.partition("=")
        pairs.append((enc(unquote(k)), enc(unquote(v))))  # '+' stays a plus, only %20 is a space
    return "&".join(f"{k}={v}" for k, v in sorted(pairs))


def hm(k, s):
    return hmac.new(k, s.encode(), hashlib.sha256).digest()


def signature(scope_date, to_sign):
    k = hm(hm(hm(hm(("AWS4" + SECRET).encode(), scope_date), REGION), "s3"), "aws4_request")
    return hmac.new(k, to_sign.encode(), hashlib.sha256).hexdigest()


def canonical(method, path, query, headers, payload):
    names = sorted(headers)
    signed = ";".join(names)
    text = "\n".join([method, path or "/", query, "".join(f"{n}:{' '.join(headers[n].split())}\n" for n in names), signed, payload])
    return signed, hashlib.sha256(text.encode()).hexdigest()


def stamp(now=None):
    now = now or datetime.datetime.now(datetime.timezone.utc)
    return now.strftime("%Y%m%dT%H%M%SZ")


def presign(method, url, expires=300, headers=None, now=None):
    u, t = urlsplit(url), stamp(now)
    h = {"host": u.netloc, **{k.lower(): v for k, v in (headers or {}).items()}}
    scope = f"{t[:8]}/{REGION}/s3/aws4_request"
    extra = {"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{KEY}/{scope}", "X-Amz-Date": t,
             "X-Amz-Expires": str(expires), "X-Amz-SignedHeaders": ";".join(sorted(h))}
    q = canonical_query("&".join(filter(None, [u.query] + [f"{enc(k)}={enc(v)}" for k, v in extra.items()])))
    _, digest = canonical(method, u.path, q, h, "UNSIGNED-PAYLOAD")
    sig = signature(t[:8], f"AWS4-HMAC-SHA256\n{t}\n{scope}\n{digest}")
    return f"{u.scheme}://{u.netloc}{u.path}?{q}&X-Amz-Signature={sig}"


def signed_headers(method, url, headers=None, payload="UNSIGNED-PAYLOAD", now=None):
    u, t = urlsplit(url), stamp(now)
    h = {"host": u.netloc, "x-amz-date": t, "x-amz-content-sha256": payload, **{k.lower(): v for k, v in (headers or {}).items()}}
    scope = f"{t[:8]}/{REGION}/s3/aws4_request"
    names, digest = canonical(method, u.path, canonical_query(u.query), h, payload)
    sig = signature(t[:8], f"AWS4-HMAC-SHA256\n{t}\n{scope}\n{digest}")
    h["authorization"] = f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, Signature={sig}"
    return h


def request(method, url, headers=None, body=b""):
    u = urlsplit(url)
    h = signed_headers(method, url, headers, hashlib.sha256(body).hexdigest())
    q = canonical_query(u.query)
    c = http.client.HTTPConnection(u.netloc, timeout=30)
    c.request(method, u.path + ("?" + q if q else ""), body, h)
    r = c.getresponse()
    try:
        return r.status, dict(r.getheaders()), r.read()
    finally:
        c.close()


def post_policy(url, prefix, ctype=None, limit=5 << 30, expires=300):
    bucket = urlsplit(url).path.strip("/")
    t = stamp()
    scope = f"{t[:8]}/{REGION}/s3/aws4_request"
    f = {"key": prefix + "${filename}", "x-amz-algorithm": "AWS4-HMAC-SHA256", "x-amz-credential": f"{KEY}/{scope}", "x-amz-date": t, "success_action_status": "201"}
    cond = [{"bucket": bucket}, ["starts-with", "$key", prefix], ["content-length-range", 0, limit]]
    if ctype:
        f["Content-Type"] = ctype
    cond += [{k: v} for k, v in f.items() if k != "key"]
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=expires)
    f["policy"] = base64.b64encode(json.dumps({"expiration": end.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "conditions": cond}).encode()).decode()
    f["x-amz-signature"] = signature(t[:8], f["policy"])
    return {"url": url, "fields": f}


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    s = p.add_subparsers(dest="cmd", required=True)
    for name in ("presign", "request"):
        a = s.add_parser(name)
        a.add_argument("method"); a.add_argument("url"); a.add_argument("--header", action="append", default=[])
        a.add_argument("--expires", type=int, default=300); a.add_argument("--data")
    a = s.add_parser("post")
    a.add_argument("url"); a.add_argument("--key-prefix", default=""); a.add_argument("--type"); a.add_argument("--max", type=int, default=5 << 30); a.add_argument("--expires", type=int, default=300)
    o = p.parse_args()
    hd = {k.strip(): v.strip() for k, _, v in (x.partition(":") for x in getattr(o, "header", []))}
    if o.cmd == "presign":
        print(presign(o.method, o.url, o.expires, hd))
    elif o.cmd == "post":
        print(json.dumps(post_policy(o.url, o.key_prefix, o.type, o.max, o.expires)))
    else:
        st, h, b = request(o.method, o.url, hd, open(o.data, "rb").read() if o.data else b"")
        print(st); print("\n".join(f"{k}: {v}" for k, v in h.items())); print(); sys.stdout.write(b.decode(errors="replace") + "\n")
        sys.exit(0 if st < 300 else 1)
