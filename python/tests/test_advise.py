"""Claim: the advice follows from what the script does, and bad input is refused in a sentence.

The scripts need no NumPy: a ``bytearray`` takes its memory from ``malloc`` too.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ARRAYS = "for _ in range(50): [bytearray(4 << 20) for _ in range(8)]"
"""Each array is cleared, which touches its pages; together they exceed what glibc keeps by itself."""


SUMS = "sum(range(2_000_000))"


class Advice(unittest.TestCase):
    def advise(self, *arguments, stdin=""):
        command = [sys.executable, "-m", "ebbtide", *arguments]
        return subprocess.run(command, check=False, input=stdin, capture_output=True, text=True)

    def test_a_script_that_waits_for_pages_gets_the_variables(self):
        ended = self.advise("advise", "-c", ARRAYS)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn("MALLOC_MMAP_MAX_=0", ended.stdout)
        figures = json.loads(self.advise("advise", "--json", "--runs", "1", "-c", ARRAYS).stdout)
        before, after = (figures[name][0]["faults"] for name in ("as_it_is", "with_variables"))
        self.assertGreater(before, 10 * after)

    def test_a_script_that_computes_gets_none(self):
        ended = self.advise("advise", "--runs", "2", "-c", SUMS)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertNotIn("MALLOC", ended.stdout)

    def test_each_run_has_the_same_input_and_arguments_and_the_first_one_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script.py")
            script.write_text(
                "import sys\nopen(sys.argv[1], 'a').write(sys.stdin.read())\nprint('printed')\n"
            )
            log = Path(folder, "log")
            ended = self.advise("advise", "--runs", "2", str(script), str(log), stdin="line\n")
            self.assertEqual(log.read_text(), "line\n" * 4)
            self.assertEqual(ended.stdout.count("printed"), 1)

    def test_what_cannot_be_measured_is_refused_with_a_reason(self):
        for arguments, reason in [
            (["advise", "-c", "raise SystemExit(3)"], "status 3"),
            (["advise", "no such file.py"], "status 2"),
            (["advise"], "no script"),
            (["advise", "--runs", "0", "-c", ""], "at least 1"),
            ([], "required"),
        ]:
            ended = self.advise(*arguments)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(reason, ended.stderr)


if __name__ == "__main__":
    unittest.main()
