"""Runs a script with memory that glibc gives back, and with memory that it keeps.

NumPy takes the memory of each array from ``malloc``. glibc gets a large block from the system, and
returns it when the array is freed; so each operator of ``(x + 1) * 2 - x / 3`` pays for pages that the
system has to clear. Two variables of the environment have glibc keep these blocks, and no array code
changes. Whether that pays depends on the program, so this module measures it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

KEPT = {
    # No block gets a mapping of its own, which is unmapped when it is freed.
    "MALLOC_MMAP_MAX_": "0",
    # Free memory at the end of the heap is not given back.
    "MALLOC_TRIM_THRESHOLD_": "9223372036854775807",
}
"""The two variables: glibc's ``M_MMAP_MAX`` and ``M_TRIM_THRESHOLD``, see ``mallopt(3)``."""

LEAST = 0.02
"""The share of the processor's time that the variables have to save, in every pair of runs."""

LEAST_FAULTS = 0.1
"""The share of the page faults likewise. Without fewer page faults, a faster run is an accident."""


class Refused(Exception):
    """Nothing can be measured; the message says why."""


@dataclass(frozen=True)
class Run:
    """What one run took."""

    processor: float
    """Seconds of the processor, in the program and in the system, of the script and its children."""
    elapsed: float
    """Seconds."""
    faults: int
    """Page faults without a disk."""
    peak: int
    """The most resident memory of one process, in bytes."""


def run(command: list[str], kept: bool, stdin: str, shown: bool) -> Run:
    """Runs ``command`` to its end.

    Raises
    ------
    Refused
        If it cannot be started, or ends with another status than 0.
    """
    environment = {name: value for name, value in os.environ.items() if name not in KEPT}
    environment.update(KEPT if kept else {})
    output = None if shown else subprocess.DEVNULL
    with open(stdin, "rb") as source:
        start = time.monotonic()
        try:
            child = subprocess.Popen(command, env=environment, stdin=source, stdout=output, stderr=output)
        except OSError as error:
            raise Refused(f"{command[0]}: {error.strerror}") from error
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
    elapsed = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        environments = "with the two variables" if kept else "as it is"
        raise Refused(f"the script ended with status {child.returncode} {environments}")
    return Run(usage.ru_utime + usage.ru_stime, elapsed, usage.ru_minflt, usage.ru_maxrss * 1024)


def compare(command: list[str], runs: int, stdin: str) -> tuple[list[Run], list[Run]]:
    """Runs ``command`` ``runs`` times as it is and as often with the variables, in turn.

    Only the first run prints what the script prints.
    """
    plain, kept = [], []
    for number in range(runs):
        plain.append(run(command, False, stdin, shown=number == 0))
        kept.append(run(command, True, stdin, shown=False))
    return plain, kept


def saved(plain: list[Run], kept: list[Run]) -> float:
    """The share of the processor's time that the variables save, of the fastest runs."""
    return 1 - min(run.processor for run in kept) / min(run.processor for run in plain)


def pays(plain: list[Run], kept: list[Run]) -> bool:
    """Whether the variables save ``LEAST`` of the time and ``LEAST_FAULTS`` in each pair of runs."""
    return all(
        b.processor < a.processor * (1 - LEAST) and b.faults < a.faults * (1 - LEAST_FAULTS)
        for a, b in zip(plain, kept)
    )


def report(command: list[str], plain: list[Run], kept: list[Run]) -> str:
    """The comparison as text."""

    def row(name: str, runs: list[Run]) -> str:
        def interval(values: list[float]) -> str:
            return f"{min(values):.2f} to {max(values):.2f} s"

        processor = interval([run.processor for run in runs])
        elapsed = interval([run.elapsed for run in runs])
        faults = f"{min(run.faults for run in runs):,}"
        peak = f"{max(run.peak for run in runs) / 2**20:,.0f} MiB"
        return f"{name:<20}{processor:>18}{elapsed:>18}{faults:>14}{peak:>13}\n"

    peaks = max(run.peak for run in kept) / max(run.peak for run in plain)
    text = f"\n{'':20}{'processor':>18}{'elapsed':>18}{'page faults':>14}{'peak memory':>13}\n"
    text += row("as it is", plain) + row("with the variables", kept)
    if not pays(plain, kept):
        return text + "\nThe variables do not pay: this script does not wait for new pages.\n"
    variables = " ".join(f"{name}={value}" for name, value in KEPT.items())
    return text + (
        f"\nThe variables save {saved(plain, kept):.0%} of the processor's time; "
        f"the peak is {peaks:.2f} times as high:\n\n"
        f"    {variables} python {shlex.join(command[1:])}\n\n"
        "The process then keeps the memory of its peak until it ends.\n"
    )


def check_platform() -> None:
    """Raises :class:`Refused` where the variables mean nothing."""
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        version = None
    if not version:
        raise Refused("the variables are those of glibc, and this Python uses another C library")


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments of this program, and those of ``python``, which may begin with a dash."""
    own = 1
    while own < len(arguments) and arguments[own].split("=")[0] in ("--runs", "--json", "-h", "--help"):
        own += 2 if arguments[own] == "--runs" else 1
    return arguments[:own], arguments[own:]


def main(arguments: list[str] | None = None) -> int:
    """``python -m ebbtide``; returns the exit status.

    0 if the variables pay, 1 if they do not, 2 if nothing could be measured.
    """
    parser = argparse.ArgumentParser(
        prog="python -m ebbtide", description="Advice for scripts with large arrays."
    )
    commands = parser.add_subparsers(required=True, metavar="advise")
    advise = commands.add_parser(
        "advise",
        usage="%(prog)s [--runs N] [--json] SCRIPT ...",
        help="compare a script with and without the variables",
        epilog="SCRIPT ... is what follows `python`: script.py and its arguments, -m module or -c code.",
    )
    advise.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each kind (default: 3)")
    advise.add_argument("--json", action="store_true", help="print the figures as JSON")
    own, script = split(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(own)
    if not script or options.runs < 1:
        advise.error("--runs is at least 1" if script else "no script")
    command = [sys.executable, *script]
    try:
        check_platform()
        with tempfile.NamedTemporaryFile() as copy:
            if not sys.stdin.isatty():
                copy.write(sys.stdin.buffer.read())
                copy.flush()
            plain, kept = compare(command, options.runs, copy.name)
    except Refused as reason:
        print(f"ebbtide: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        figures = {
            "variables": KEPT,
            "pays": pays(plain, kept),
            "saved": saved(plain, kept),
            "as_it_is": [vars(run) for run in plain],
            "with_variables": [vars(run) for run in kept],
        }
        print(json.dumps(figures))
    else:
        print(report(command, plain, kept), end="")
    return 0 if pays(plain, kept) else 1
