import argparse
import os
import sys

parser = argparse.ArgumentParser(description="what the program is called")
parser.add_argument("--n", type=int, default=3)
print(sys.argv, os.path.basename(sys.path[0]), __file__ == os.path.abspath(sys.argv[0]), __name__)
print(parser.parse_args())
