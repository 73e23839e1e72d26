"""WordPiece as in BERT (uncased): a vocabulary, read or trained, and the tokenizer for it.

Source: J. Devlin et al., BERT, 2019; the `tokenizers` library does the work. Only the rule that makes the data has it.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError

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
        raise FramewattError(f"{path}: found no vocabulary: {error}; allowed: a token a line, UTF-8") from error
    missing = [token for token in (PADDING, UNKNOWN, BEGIN, END) if token not in tokens]
    if missing or len(set(tokens)) != len(tokens):
        what = f"no {', '.join(missing)}" if missing else "a token twice"
        raise FramewattError(f"{path}: found {what} in {len(tokens)} lines; allowed: BERT's vocab.txt")
    return tokens


def train_vocabulary(texts: Sequence[str], size: int) -> list[str]:
    """A vocabulary from texts; the same texts give the same tokens.

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
    """A tokenizer whose texts begin with [CLS], end with [SEP], and are cut or padded to one length.

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
