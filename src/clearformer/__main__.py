"""`python -m clearformer`: the same program where its script is not on the path."""

from __future__ import annotations

import sys

from clearformer.cli.main import main

sys.exit(main())
