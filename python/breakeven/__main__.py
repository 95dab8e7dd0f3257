"""`python -m breakeven …`: the command `breakeven` of this Python."""

import os
import shutil
import sys
import sysconfig

beside = sysconfig.get_path("scripts")
command = shutil.which("breakeven", path=beside) or shutil.which("breakeven")
if command is None:
    sys.exit(f"error: the command `breakeven` is neither in {beside} nor on PATH\n hint: pip install breakeven")
os.execv(command, [command, *sys.argv[1:]])
