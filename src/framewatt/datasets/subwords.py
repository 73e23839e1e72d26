"""Words cut into pieces, and the ids of these pieces: byte pair encoding, and WordPiece as in BERT (uncased).

Sources: R. Sennrich et al., Neural Machine Translation of Rare Words with Subword Units, ACL 2016, by its authors' own
subword-nmt; J. Devlin et al., BERT, 2019, by the `tokenizers` library. Only the rule that makes the data has these.
"""

import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

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
        """Return a word in pieces, all but the last with `@@` at the end.

        Args:
            word: one letter or more, and no blank.
        """
        if self._bpe is None:
            return [*(letter + GOES_ON for letter in word[:-1]), word[-1]]
        pieces: list[str] = self._bpe.segment_tokens([word])
        return pieces


def learnt(words: Mapping[str, int], merges: int) -> Merges:
    """Return merges, each of the most frequent pair of pieces at that time; fewer than `merges` where no pair is left.

    Pairs that a text has once only are not merged.

    Args:
        words: how often a text has each, none of them with a blank, or with `@@` at its end.
        merges: most pairs.

    Raises:
        FramewattError: `merges` is no number of them.
    """
    if merges < 1:
        raise FramewattError(f"merges: {merges} is not possible. Use 1 or more.")
    if all(len(word) < 2 for word in words):
        return Merges(())
    from subword_nmt.learn_bpe import learn_bpe

    codes = io.StringIO()
    # It writes there how far it is, and where it stops before the last merge.
    with redirect_stderr(io.StringIO()):
        learn_bpe((f"{word} {count}" for word, count in words.items()), codes, merges, is_dict=True)
    return Merges(tuple(codes.getvalue().removeprefix(_VERSION).split("\n")[:-1]))


def vocabulary_of(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the text of each id: first special ids, then pieces by falling frequency, then "" for unused ids.

    Args:
        counts: how often the training text has each piece; of equally frequent ones the first comes first.

    Returns:
        A multiple of ROUNDED_VOCABULARY.
    """
    known = (*SPECIAL, *sorted(counts, key=lambda piece: -counts[piece]))
    return known + ("",) * (-len(known) % ROUNDED_VOCABULARY)


PADDING, UNKNOWN, BEGIN, END, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
_SPECIAL = (PADDING, UNKNOWN, BEGIN, END, MASK)
_CONTINUED = "##"
_RAREST = 2
"""How often a piece must occur to become a token."""


def read_vocabulary(path: Path) -> list[str]:
    """Tokens of a vocabulary file, one per line, in order of their ids.

    Raises:
        FramewattError: it is missing, is not UTF-8, lacks a special token or has a token twice.
    """
    try:
        tokens = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FramewattError(f"{path}: it is not a vocabulary: {error}. Use one token per line, in UTF-8.") from error
    missing = [token for token in (PADDING, UNKNOWN, BEGIN, END) if token not in tokens]
    if missing or len(set(tokens)) != len(tokens):
        what = f"no {', '.join(missing)}" if missing else "a token twice"
        raise FramewattError(f"{path}: it has {what} in {len(tokens)} lines. Use BERT's vocab.txt.")
    return tokens


def train_vocabulary(texts: Sequence[str], size: int) -> list[str]:
    """Return a vocabulary from texts; the same texts give the same tokens.

    Args:
        texts: the texts in which pieces are counted.
        size: largest number of tokens.
    """
    from tokenizers import Tokenizer, models, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    _split_as_bert(tokenizer)
    letters = sorted({letter for text in texts for letter in tokenizer.normalizer.normalize_str(text)} - {" "})
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=_RAREST,
        # The trainer numbers letters inside words in the order in which it finds them, which differs from run to run
        # and so changes the choice among equally frequent pieces. Letters given in advance keep their numbers.
        special_tokens=[*_SPECIAL, *(_CONTINUED + letter for letter in letters)],
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    ids: dict[str, int] = tokenizer.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def vocabulary_sha256(tokens: Sequence[str]) -> str:
    """SHA-256 of the vocabulary's file, one token per line."""
    return hashlib.sha256("".join(f"{token}\n" for token in tokens).encode()).hexdigest()


def make_tokenizer(tokens: Sequence[str], length: int) -> Any:
    """Return a tokenizer; its texts start with [CLS], end with [SEP], and are cut or padded to one length.

    Args:
        tokens: the vocabulary, in order of ids.
        length: tokens of every text, the two included.
    """
    from tokenizers import Tokenizer, models, processors

    ids = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=UNKNOWN))
    _split_as_bert(tokenizer)
    tokenizer.post_processor = processors.BertProcessing((END, ids[END]), (BEGIN, ids[BEGIN]))
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=ids[PADDING], pad_token=PADDING)
    return tokenizer


def _split_as_bert(tokenizer: Any) -> None:
    """Lower case without accents, split at spaces and punctuation."""
    from tokenizers import normalizers, pre_tokenizers

    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
