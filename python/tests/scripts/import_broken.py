import numpy as np
import helper_broken
