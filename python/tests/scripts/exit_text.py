import sys

print("out")
sys.exit("to standard error")
