"""The doctor: which laws a Transformer breaks, anybody's, and why.

In reading order: `parts` (what is handed in), `calling/` (how a module is asked), `noise` (what counts as different),
`check` and `checks/` (one law a file), `operations/` (what happens inside a forward pass), `causes/` (from broken laws
to a named cause), `diagnose` (all of it in turn), `diagnosis` (the result).
"""

from __future__ import annotations

from clearformer.doctor.diagnose import diagnose
from clearformer.doctor.diagnosis import Diagnosis

__all__ = ["Diagnosis", "diagnose"]
