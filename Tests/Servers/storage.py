"""S3 storage and a breaking line to it, as child processes, and what tests look at them with."""
import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlencode

import s3sig

SERVERS = Path(__file__).parent
KEY, SECRET = "upkey", "upsecret0123456789"


class _Child:
    """Ends when its standard input ends, that is with the test at the latest."""

    def launch(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        words = self.process.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise RuntimeError(f"{command[1]} did not start")
        return words[1:]

    def stop(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class Weed(_Child):
    """SeaweedFS with the bucket `media`."""

    def __init__(self, folder):
        self.folder, self.base = folder, None
        self.start()

    def start(self):
        """Again after `kill`: on the same ports, with the data that was there."""
        command = ["bash", SERVERS / "start-weed.sh", self.folder] + ([self.base] if self.base else [])
        port, filer, self.pid, self.base = self.launch(command)
        self.port, self.filer_port = int(port), int(filer)
        self.address = f"127.0.0.1:{port}"

    def kill(self):
        self.stop()  # the script ends it by SIGKILL

    def request(self, method, target, headers=None, body=b""):
        return s3sig.request(method, f"http://{self.address}/media{target}", headers, body)

    def get(self, key):
        status, headers, body = self.request("GET", "/" + quote(key, safe="/-._~"))
        return body if status == 200 else None

    def open_uploads(self, prefix=""):
        """Ids of the uploads that are neither joined nor taken back, by key."""
        body = self.request("GET", "?" + urlencode({"uploads": "", "prefix": prefix}, quote_via=quote))[2].decode()
        return {re.search("<Key>(.*?)</Key>", one)[1]: re.search("<UploadId>(.*?)</UploadId>", one)[1]
                for one in re.findall("<Upload>(.*?)</Upload>", body, re.DOTALL)}

    def keys(self, prefix=""):
        body = self.request("GET", "?" + urlencode({"list-type": "2", "prefix": prefix}, quote_via=quote))[2].decode()
        return re.findall("<Key>(.*?)</Key>", body)


class Proxy(_Child):
    """flaky_proxy.py in front of `address`."""

    def __init__(self, address, *rules):
        options = [word for rule in rules for word in ("--rule", rule)]
        self.address, self.control = self.launch(
            [sys.executable, SERVERS / "flaky_proxy.py", "--until-eof", "--target", address, *options])
        self.url = f"http://{self.address}"

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.control, timeout=60)
        try:
            connection.request(method, path, body)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def rules(self, *rules):
        self.ask("POST", "/rules", "\n".join(rules))

    def reset(self):
        self.ask("POST", "/reset")

    def stats(self):
        return self.ask("GET", "/stats")

    def wait(self, match, passed=0, count=1):
        """Returns once `count` requests that match have passed so many body bytes each."""
        self.ask("GET", "/wait?" + urlencode({"match": match, "passed": passed, "count": count}))

    def requests(self, match=""):
        return [entry for entry in self.stats()["log"] if match in f"{entry['method']} {entry['path']}"]
