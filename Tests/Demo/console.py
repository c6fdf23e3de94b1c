"""Plain output for people, with colour only where it is seen and wanted (https://no-color.org)."""
import os
import sys

USES_COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
failed_checks = []


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if USES_COLOUR else text


def heading(text):
    print(f"\n{paint(text, 1)}", flush=True)


def say(text=""):
    print(f"  {text}", flush=True)


def check(is_right, text):
    """Says what was checked; a check that fails makes the demo fail at its end."""
    print(f"  {paint('ok', 32) if is_right else paint('FAILED', 31)}  {text}", flush=True)
    if not is_right:
        failed_checks.append(text)


def megabytes(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
