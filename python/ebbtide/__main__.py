"""``python -m ebbtide``."""

import sys

from ebbtide.advise import main

sys.exit(main())
