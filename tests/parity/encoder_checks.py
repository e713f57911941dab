"""What every encoder is asked, over the tables of its module: its answers whichever side is padded, and its size."""

from __future__ import annotations

import pytest

from parity.frame import Frame, same_size

# Of a bare model: hidden states do not pass it.
POOLER = {"pooler.dense.weight", "pooler.dense.bias"}


class EncoderChecks(Frame):
    """CHOICES name a class each. UNREAD are, by choice, names of parameters that the answer does not pass."""

    @pytest.mark.parametrize("left", [False, True])
    def test_equals_transformers(self, original, load_folder, choice, left):
        found = original(choice)
        assert found.distance(load_folder(found.folder), left=left) <= found.tolerance

    def test_as_many_parameters(self, request, original, load_folder, choice):
        found = original(choice)
        unread = getattr(request.module, "UNREAD", {}).get(choice, set())
        assert same_size(found, load_folder(found.folder), POOLER | unread)
