// The report page's one script: the page's, and that of the workers it makes of it.

import { bring } from "./page";
import { serve } from "./worker";

if (!serve()) bring();
