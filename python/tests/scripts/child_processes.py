import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
for command in (
    [sys.executable, "plain.py"],
    [sys.executable, "-c", "import numpy as np; print((np.ones(3) + 1).sum())"],
    [sys.executable, "-m", "package_here.tool", "3"],
    [sys.executable, "-S", "-E", "-I", "-c", "print('isolated')"],
    [sys.executable, "uncaught.py"],
    [sys.executable, "exit_number.py"],
    [sys.executable, "-"],
):
    done = subprocess.run(command, cwd=here, input=b"print('from stdin')", capture_output=True)
    print(done.returncode, done.stdout, done.stderr)
sys.stdout.flush()
os.system(f"{sys.executable} -c 'print(6 * 7)'")
