"""`python -m breakeven._run [-m MODULE | SCRIPT] ARGS…`: the script as `python` runs it, and recorded."""

from breakeven.run import launch

launch.main()
