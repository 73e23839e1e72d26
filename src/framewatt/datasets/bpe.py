"""Words cut into pieces that a text has often (byte pair encoding), and the ids of these pieces.

Source: R. Sennrich et al., Neural Machine Translation of Rare Words with Subword Units, ACL 2016; by its authors' own
subword-nmt.
"""

import hashlib
import io
from collections.abc import Mapping
from contextlib import redirect_stderr

from framewatt.base.errors import FramewattError
from framewatt.datasets.pairs import GOES_ON, SPECIAL

ROUNDED_VOCABULARY = 32
"""A vocabulary has a multiple of this many ids, the last ones unused, as matrix units of GPUs want it."""

_VERSION = "#version: 0.2\n"


class Merges:
    """Which two pieces become one, one after another; every other piece is a letter.

    Attributes:
        codes: `<piece> <piece>` each, where `</w>` ends a word, as subword-nmt writes them.
    """

    def __init__(self, codes: tuple[str, ...]) -> None:
        from subword_nmt.apply_bpe import BPE

        self.codes = codes
        # It ends the process where there is no code.
        self._bpe = BPE(io.StringIO(_VERSION + "\n".join(codes)), separator=GOES_ON) if codes else None

    @property
    def sha256(self) -> str:
        """Hash of the codes, as a file of subword-nmt holds them."""
        return hashlib.sha256((_VERSION + "".join(f"{code}\n" for code in self.codes)).encode()).hexdigest()

    def pieces(self, word: str) -> list[str]:
        """A word in pieces, all but the last with `@@` at the end.

        Args:
            word: one letter or more, and no blank.
        """
        if self._bpe is None:
            return [*(letter + GOES_ON for letter in word[:-1]), word[-1]]
        found: list[str] = self._bpe.segment_tokens([word])
        return found


def learnt(words: Mapping[str, int], merges: int) -> Merges:
    """The most frequent pair of pieces, which becomes one, and so on; fewer than asked for where none is left.

    Pairs that a text has once only are not merged.

    Args:
        words: how often a text has each, none of them with a blank, or with `@@` at its end.
        merges: most pairs.

    Raises:
        FramewattError: `merges` is no number of them.
    """
    if merges < 1:
        raise FramewattError(f"merges: found {merges}; allowed: 1 or more")
    if all(len(word) < 2 for word in words):
        return Merges(())
    from subword_nmt.learn_bpe import learn_bpe

    codes = io.StringIO()
    # It writes there how far it is, and where it stops before the last merge.
    with redirect_stderr(io.StringIO()):
        learn_bpe((f"{word} {count}" for word, count in words.items()), codes, merges, is_dict=True)
    return Merges(tuple(codes.getvalue().removeprefix(_VERSION).split("\n")[:-1]))


def vocabulary_of(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The text of each id: of those that are no piece, then of pieces by falling frequency, then "" of unused ones.

    Args:
        counts: how often the training text has each piece; of equally frequent ones the first comes first.

    Returns:
        A multiple of ROUNDED_VOCABULARY.
    """
    known = (*SPECIAL, *sorted(counts, key=lambda piece: -counts[piece]))
    return known + ("",) * (-len(known) % ROUNDED_VOCABULARY)
