"""The checks that ask a module from outside, by its answers alone, in the order in which they are made."""

from __future__ import annotations

from clearformer.doctor.checks.cached import CACHED
from clearformer.doctor.checks.documents import DOCUMENTS
from clearformer.doctor.checks.empty_rows import EMPTY_ROWS
from clearformer.doctor.checks.generation import GENERATION
from clearformer.doctor.checks.growth import GROWTH
from clearformer.doctor.checks.mask_contract import MASK_CONTRACT
from clearformer.doctor.checks.offset import OFFSET
from clearformer.doctor.checks.order import ORDER
from clearformer.doctor.checks.pad_content import PAD_CONTENT
from clearformer.doctor.checks.pad_equivalence import PAD_EQUIVALENCE
from clearformer.doctor.checks.paths import PATHS
from clearformer.doctor.checks.prefix import PREFIX
from clearformer.doctor.checks.rows import ROWS
from clearformer.doctor.checks.source import SOURCE
from clearformer.doctor.checks.start import START
from clearformer.doctor.checks.visibility import VISIBILITY
from clearformer.doctor.checks.window import WINDOW

OUTSIDE = (
    START,
    ROWS,
    PAD_CONTENT,
    MASK_CONTRACT,
    SOURCE,
    PATHS,
    CACHED,
    EMPTY_ROWS,
    PAD_EQUIVALENCE,
    PREFIX,
    VISIBILITY,
    ORDER,
    WINDOW,
    DOCUMENTS,
    OFFSET,
    GROWTH,
    GENERATION,
)
"""Whether there are numbers at all, then what is cheap and telling; generation last, which writes token by token."""
