"""Bytes that go up again where the engine is killed: one large multipart upload to SeaweedFS, `kill -9` of the engine 20
times on the way, counted at a proxy."""
import os
import time

import s3_part
import upload_part
from engine_client import EngineProcess
from storage import Proxy, Weed

KILLS = 20


def missing():
    return s3_part.missing()


def measure(programs, work, size):
    """- Returns the rows of the table: what, ours, the bound, unit."""
    upload_part.random_file(work / "source.bin", size)
    weed = Weed(work / "weed")
    proxy = Proxy(weed.address)
    try:
        weed.address, real = proxy.address, weed.address
        config = s3_part.config(work, weed)
        weed.address = real
        command = [programs / "taskcenterd", "--store", work / "store", "--config", config]
        engine = EngineProcess(command)
        task = engine.call("task/submit", {"kind": "log", "resources": [{"source": {"paths": [str(work / "source.bin")]}}]})["task"]
        for kills in range(1, KILLS + 1):
            # Less than an even share for each engine, so that something is left for the last one.
            goal = proxy.stats()["body_bytes"] + size // (KILLS + 1)
            while proxy.stats()["body_bytes"] < goal:
                time.sleep(0.002)
            engine.kill()
            engine = EngineProcess(command)
        task = engine.call("task/wait", {"id": task["id"], "timeoutMs": 600_000}, 610)["task"]
        if task["state"] != "sent":
            raise RuntimeError(f"the task is {task['state']}: {task.get('failure')}")
        receipt = task["resources"][0]["receipt"]
        passed = proxy.stats()["body_bytes"]
        engine.close()
        again = (passed - receipt["size"]) / 2**20
        part = s3_part.PART / 2**20
        return [(f"{kills} kills within {receipt['size'] / 2**30:.2f} GiB: bytes sent again, each time",
                 again / kills, part * s3_part.CONNECTIONS, "MiB"),
                ("same, in all", again, part * s3_part.CONNECTIONS * kills, "MiB")]
    finally:
        proxy.stop()
        weed.stop()
