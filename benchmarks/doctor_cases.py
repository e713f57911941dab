"""Cases of the doctor's corpus through `diagnose`: JSON lines on stdout, as `doctor_peers.py` writes them."""

from __future__ import annotations

import json
import sys

import torch

from doctor.corpus import CASES
from doctor.scoring import judged

TOLD = ("named", "seconds", "raised", "unavailable", "skipped")


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        outcome = judged(CASES[name])
        print(json.dumps({"case": name, **{each: getattr(outcome, each) for each in TOLD}}), flush=True)


if __name__ == "__main__":
    main()
