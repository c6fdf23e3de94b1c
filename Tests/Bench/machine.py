"""On what, and how quiet it was: without this a figure says nothing."""
import os
import platform
import time


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown CPU")


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def describe():
    return (f"{cpu_name()}, {os.cpu_count()} cores, {memory_gib():.0f} GiB, Linux {platform.release()}, "
            f"{time.strftime('%Y-%m-%d')}")


def cpu_pressure():
    """Share of the last 10 s in which some thread waited for a core, in percent; None where the kernel can't tell."""
    try:
        with open("/proc/pressure/cpu", encoding="utf-8") as file:
            return float(file.read().split("avg10=")[1].split()[0])
    except (OSError, IndexError, ValueError):
        return None


def resident_mib(pid):
    """Resident and proportional set size of a process."""
    found = {}
    for name, prefix in (("status", "VmRSS:"), ("smaps_rollup", "Pss:")):
        with open(f"/proc/{pid}/{name}", encoding="utf-8") as file:
            found[prefix] = next(int(line.split()[1]) / 1024 for line in file if line.startswith(prefix))
    return found["VmRSS:"], found["Pss:"]


def cpu_seconds(pid):
    """Of all live threads. schedstat is exact where /proc/PID/stat counts ticks."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass
    return total / 1e9
