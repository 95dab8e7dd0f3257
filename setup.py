"""What pyproject.toml cannot say: the `.pth` line that lets child processes of a recorded script be recorded too."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PTH = "breakeven.pth"


class BuildWithPth(build_py):
    """Puts `breakeven.pth` beside the package, listed in the wheel's RECORD so that it goes with uninstall."""

    def run(self) -> None:
        super().run()
        self.copy_file(str(Path("python") / PTH), str(Path(self.build_lib) / PTH))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib) / PTH)]


setup(cmdclass={"build_py": BuildWithPth})
