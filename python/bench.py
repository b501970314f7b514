"""NumPy programs against themselves, with other memory: `python3 python/bench.py [SIZE,...]`.

Each program runs in a process of its own with each environment, in turn, for several rounds; the least
time of the processor counts. Rewrites dev/records/numpy.csv and the table in docs/NUMPY.md. Needs NumPy;
mimalloc and jemalloc are left out where they are missing.
"""

import csv
import ctypes.util
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

from ebbtide.advise import KEPT

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 2
SECONDS = 0.2
SIZES = [1_000, 10_000, 100_000, 1_000_000, 4_000_000, 20_000_000]

ENVIRONMENTS = {
    "as it is": {},
    "two variables": KEPT,
    "mimalloc": {"LD_PRELOAD": ctypes.util.find_library("mimalloc")},
    "jemalloc": {"LD_PRELOAD": ctypes.util.find_library("jemalloc")},
    "jemalloc, kept": {
        "LD_PRELOAD": ctypes.util.find_library("jemalloc"),
        "MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",
    },
}


def expression(np, n):
    x = np.random.rand(n)
    return lambda: (x + 1) * 2 - x / 3


def expression_out(np, n):
    x, a, b = np.random.rand(n), np.empty(n), np.empty(n)

    def run():
        np.add(x, 1, out=a)
        np.multiply(a, 2, out=a)
        np.divide(x, 3, out=b)
        np.subtract(a, b, out=a)

    return run


def polynomial(np, n):
    x = np.random.rand(n)

    def run():
        y = x * 0.3 + 0.2
        return (y * x + 1) * x - y

    return run


def polynomial_out(np, n):
    x, a, b = np.random.rand(n), np.empty(n), np.empty(n)

    def run():
        np.multiply(x, 0.3, out=a)
        np.add(a, 0.2, out=a)
        np.multiply(a, x, out=b)
        np.add(b, 1, out=b)
        np.multiply(b, x, out=b)
        np.subtract(b, a, out=b)

    return run


def softmax(np, n):
    x = np.random.rand(max(n // 100, 1), 100)

    def run():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return run


def image_filter(np, n):
    side = int(n**0.5)
    x = np.random.rand(side, side).astype(np.float32)

    def run():
        corners = x[:-2, :-2] + x[:-2, 2:] + x[2:, :-2] + x[2:, 2:]
        edges = x[:-2, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1]
        return (corners + 2 * edges + 4 * x[1:-1, 1:-1]) / 16

    return run


def logistic_regression(np, n):
    x, weights = np.random.rand(n // 10, 10), np.full(10, 0.1)
    labels = np.random.rand(len(x)).round()

    def run():
        guesses = 1 / (1 + np.exp(-(x @ weights)))
        return x.T @ (guesses - labels) / len(labels) + 0.01 * weights

    return run


def standardise(np, n):
    x = np.random.rand(n // 10, 10)
    return lambda: (x - x.mean(0)) / np.sqrt(((x - x.mean(0)) ** 2).mean(0))


def k_means(np, n):
    points, centres = np.random.rand(n // 16, 2), np.random.rand(8, 2)

    def run():
        nearest = ((points[:, None, :] - centres) ** 2).sum(2).argmin(1)
        return np.bincount(nearest, points[:, 0], len(centres))

    return run


def masks(np, n):
    x = np.random.rand(n)
    return lambda: x[(x > 0.25) & (x < 0.75)].sum() + np.where(x > 0.5, x, -x).mean()


def group_by(np, n):
    groups, x = np.random.randint(0, 100, n), np.random.rand(n)

    def run():
        order = np.argsort(groups, kind="stable")
        ends = np.flatnonzero(np.diff(groups[order])) + 1
        return np.add.reduceat(x[order], np.concatenate(([0], ends)))

    return run


PROGRAMS = [
    *(expression, expression_out, polynomial, polynomial_out, softmax, image_filter),
    *(logistic_regression, standardise, k_means, masks, group_by),
]
"""Over about `n` numbers. One that ends in `_out` computes the same as that before it, with `out=`."""


def measure(name, n):
    """Measures one program in this process, and prints microseconds, page faults a call and MiB."""
    import numpy as np

    np.random.seed(0)
    program = next(program for program in PROGRAMS if program.__name__ == name)(np, n)
    for _ in range(3):
        program()
    start = time.perf_counter()
    program()
    batch = max(1, int(0.005 / max(time.perf_counter() - start, 1e-7)))
    best, calls, start = math.inf, 0, time.perf_counter()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    while calls < 3 * batch or time.perf_counter() - start < SECONDS:
        begin = time.process_time()
        for _ in range(batch):
            program()
        best = min(best, (time.process_time() - begin) / batch)
        calls += batch
    usage = resource.getrusage(resource.RUSAGE_SELF)
    faults = (usage.ru_minflt - faults) / calls
    print(json.dumps([best * 1e6, faults, usage.ru_maxrss / 1024, np.__version__]))


def record(sizes):
    """Measures all rows: (program, n, environment) to [microseconds, faults, MiB], and the version."""
    rows, version = {}, ""
    environments = {k: v for k, v in ENVIRONMENTS.items() if v.get("LD_PRELOAD", "") is not None}
    for turn in range(ROUNDS):
        for n in sizes:
            for name in [program.__name__ for program in PROGRAMS]:
                for environment, variables in environments.items():
                    if name.endswith("_out") and environment != "as it is":
                        continue
                    command = [sys.executable, __file__, "--measure", name, str(n)]
                    variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **variables}
                    ran = subprocess.run(command, env=variables, check=True, capture_output=True)
                    *figures, version = json.loads(ran.stdout)
                    key = (name, n, environment)
                    rows[key] = [min(pair) for pair in zip(figures, rows.get(key, figures))]
        print(f"round {turn + 1} of {ROUNDS}", file=sys.stderr)
    return rows, version


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def ratios(rows, n, place, one, other):
    """The figures of all programs over `n` numbers in the environment `one`, divided by `other`'s."""
    names = [name for name, m, environment in rows if (m, environment) == (n, other)]
    return [
        rows[name, n, one][place] / rows[name, n, other][place] for name in names if not name.endswith("_out")
    ]


def by_hand(rows, n, environment):
    """The time in an environment, divided by that of the same program with `out=`."""
    names = [name for name, m, _ in rows if m == n and name.endswith("_out")]
    pairs = [(rows[name.removesuffix("_out"), n, environment], rows[name, n, "as it is"]) for name in names]
    return mean([plain[0] / out[0] for plain, out in pairs])


def table(rows):
    """A line for each size: how many times as fast as it is, as geometric mean of the programs."""
    names = [name for name in ENVIRONMENTS if any(row[2] == name for row in rows)][1:]
    head = ["numbers", *names, "two variables, lowest", "its peak memory, highest"]
    head += ["as it is ÷ `out=`", "two variables ÷ `out=`"]
    lines = [head, ["---:"] * len(head)]
    for n in sorted({n for _, n, _ in rows}):
        cells = [mean(ratios(rows, n, 0, "as it is", name)) for name in names]
        cells += [min(ratios(rows, n, 0, "as it is", "two variables"))]
        cells += [max(ratios(rows, n, 2, "two variables", "as it is"))]
        cells += [by_hand(rows, n, "as it is"), by_hand(rows, n, "two variables")]
        lines.append([f"{n:,}", *(f"{cell:.2f}" for cell in cells)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    if sys.argv[1:2] == ["--measure"]:
        return measure(sys.argv[2], int(sys.argv[3]))
    sizes = [int(size) for size in sys.argv[1].split(",")] if sys.argv[1:] else SIZES
    rows, version = record(sizes)
    cpus = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next(line for line in cpus if line.startswith("model name"))
    cpu = cpu.split(":")[1].replace("@", ",").split(",")[0].strip()
    libc = " ".join(platform.libc_ver())
    with open(ROOT / "dev/records/numpy.csv", "w", newline="") as file:
        file.write(f"# cpu: {cpu}, {os.cpu_count()} threads\n")
        file.write(f"# toolchain: Python {platform.python_version()}, NumPy {version}, {libc}\n")
        file.write(f"# how: python/bench.py; minima of {ROUNDS} rounds\n# date: {date.today()}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["program", "numbers", "memory", "processor_us", "page_faults", "peak_mib"])
        for (name, n, environment), (us, faults, peak) in rows.items():
            out.writerow([name, n, environment, f"{us:.2f}", f"{faults:.1f}", f"{peak:.1f}"])
    page = ROOT / "docs/NUMPY.md"
    text = page.read_text()
    before, rest = text.split("<!-- table numpy -->\n")
    page.write_text(
        f"{before}<!-- table numpy -->\n{table(rows)}<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    )
    return None


if __name__ == "__main__":
    sys.exit(main())
