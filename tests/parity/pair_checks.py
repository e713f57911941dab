"""What every encoder-decoder is asked, over the tables of its module: its logits whichever side is padded, its size,
and the family that says it again."""

from __future__ import annotations

from clearformer.families import family_for
from parity.frame import Frame, same_size


class PairChecks(Frame):
    """Positions of some originals count padding on the left; ours agrees with what they say of rows padded right."""

    def test_equals_transformers(self, original, load_folder, choice):
        found = original(choice)
        loaded = load_folder(found.folder)
        assert found.distance(loaded) <= found.tolerance
        assert found.distance(loaded, left=True) <= found.tolerance
        assert family_for(loaded.spec)[0].model_type == found.model.config.model_type
        assert same_size(found, loaded)
