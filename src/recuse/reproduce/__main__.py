"""Run a paper's protocol from the command line."""

import sys

from . import main

sys.exit(main())
