import numpy as np
import no_such_module_anywhere
