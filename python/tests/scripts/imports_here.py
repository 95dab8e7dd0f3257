import os
import sys

import numpy as np
import package_here.sibling as sibling

folder = os.path.dirname(sibling.__file__)
print(sibling.VALUE, sibling.__loader__.__class__.__name__, sibling.__spec__.origin == sibling.__file__)
print(sorted(name.split(".")[0] for name in os.listdir(os.path.join(folder, "__pycache__"))))
print(np.__spec__.loader is np.__loader__, type(np.__loader__).__name__)
