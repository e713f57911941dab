"""Training of byte-pair encoding: join the most frequent adjacent pair, count again, repeat.

(Sennrich et al. 2016, arXiv 1508.07909, algorithm 1.) Counting again would cost the corpus at each merge; only words
that hold the joined pair change, so the counts are kept and corrected. Ties go to the pair with the smallest ids, as in
the `tokenizers` library, whose merges these are exactly.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.bpe import BytePairEncoding, Pair, split_words
from clearformer.text.byte_alphabet import character_of_byte, spell


@dataclass(frozen=True)
class MergeStep:
    """One step of training: the pair joined, the new token's id and word, how often the pair stood in the corpus."""

    pair: Pair
    token_id: int
    word: str
    count: int


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Words of the corpus in the byte alphabet, with their frequencies."""
    words = Counter(word for text in texts for word in split_words(text))
    return Counter({spell(word.encode("utf-8")): count for word, count in words.items()})


def merge_steps(
    word_counts: Mapping[str, int], vocabulary: list[str], *, min_frequency: int = 1
) -> Iterator[MergeStep]:
    """Yield merges, most frequent first, appending each new word to `vocabulary`; the caller stops when it has enough.

    Ends by itself when no pair stands `min_frequency` times in the corpus.
    """
    ids = {word: index for index, word in enumerate(vocabulary)}
    words = [[ids[character] for character in word] for word in word_counts]
    frequency = list(word_counts.values())
    pair_count: Counter[Pair] = Counter()
    holders: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            pair_count[pair] += frequency[index]
            holders[pair].add(index)

    # A heap entry keeps the count it was pushed with; when the count has since fallen, it is pushed again.
    heap = [(-pair_count[pair], pair, where) for pair, where in holders.items()]
    heapq.heapify(heap)
    while heap:
        negative_count, pair, where = heapq.heappop(heap)
        if -negative_count != pair_count[pair]:
            if pair_count[pair] > 0:
                heapq.heappush(heap, (-pair_count[pair], pair, where))
            continue
        if -negative_count < min_frequency:
            return
        joined_word = vocabulary[pair[0]] + vocabulary[pair[1]]
        joined = ids.setdefault(joined_word, len(vocabulary))
        if joined == len(vocabulary):
            vocabulary.append(joined_word)
        yield MergeStep(pair, joined, joined_word, -negative_count)

        appeared: defaultdict[Pair, set[int]] = defaultdict(set)
        for index in where:
            words[index], changes = join_and_compare(words[index], pair, joined)
            for changed, change in changes:
                pair_count[changed] += change * frequency[index]
                if change > 0:
                    appeared[changed].add(index)
        for new_pair, positions in appeared.items():
            if pair_count[new_pair] > 0:
                heapq.heappush(heap, (-pair_count[new_pair], new_pair, positions))


def join_and_compare(word: Sequence[int], pair: Pair, joined: int) -> tuple[list[int], list[tuple[Pair, int]]]:
    """`join_pair`, and by how much it changes the number of each neighbouring pair in the word."""
    result: list[int] = []
    changes: list[tuple[Pair, int]] = []
    position = 0
    while position < len(word):
        if tuple(word[position : position + 2]) != pair:
            result.append(word[position])
            position += 1
            continue
        if result:
            changes += [((result[-1], pair[0]), -1), ((result[-1], joined), +1)]
        position += 2
        if position < len(word):
            changes += [((pair[1], word[position]), -1), ((joined, word[position]), +1)]
        result.append(joined)
    return result, changes


def train(
    texts: Iterable[str],
    *,
    vocabulary_size: int,
    special_tokens: Sequence[str] = (),
    min_frequency: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BytePairEncoding:
    """Learn a byte-level BPE of at most `vocabulary_size` tokens: special ones first, then 256 bytes, then merges.

    Stops early when no pair stands `min_frequency` times; `progress` hears the tokens so far, and in all. Raises
    `TokenizerError` if the size leaves no room for the bytes, if a text holds a lone surrogate, or if a special token
    would be learnt from the text.
    """
    special = tuple(dict.fromkeys(special_tokens))
    vocabulary = [*special, *sorted(character_of_byte())]
    if vocabulary_size < len(vocabulary):
        raise TokenizerError(messages.VOCABULARY_TOO_SMALL, least=len(vocabulary), found=vocabulary_size)
    for token in set(special) & set(character_of_byte()):
        raise TokenizerError(messages.SPECIAL_LEARNT, token=token)

    merges: list[Pair] = []
    if len(vocabulary) < vocabulary_size:
        for step in merge_steps(count_words(texts), vocabulary, min_frequency=max(1, min_frequency)):
            if step.token_id < len(special):
                raise TokenizerError(messages.SPECIAL_LEARNT, token=step.word)
            merges.append(step.pair)
            progress(len(vocabulary), vocabulary_size)
            if len(vocabulary) == vocabulary_size:
                break
    return BytePairEncoding(tuple(vocabulary), tuple(merges), special)
