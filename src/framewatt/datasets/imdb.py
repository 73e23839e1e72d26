"""IMDB reviews (aclImdb), tokenised once, so that every framework reads the same ids.

Source: A. Maas et al., Learning Word Vectors for Sentiment Analysis, ACL 2011;
https://ai.stanford.edu/~amaas/data/sentiment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets.contract import Texts
from framewatt.datasets.options import Count, Limits, Positive, Seed
from framewatt.datasets.record import LeftOut, about
from framewatt.datasets.selection import chosen
from framewatt.datasets.subwords import make_tokenizer, read_vocabulary, train_vocabulary, vocabulary_sha256

_FOLDER = "aclImdb"
_CLASSES = ("neg", "pos")
_WRONG_ENCODING = ("error", "leave_out", "replace")
_VOCABULARY = "vocab.txt"
_PORTION = 500


@dataclass(frozen=True)
class _Review:
    path: Path
    label: int
    text: str


def make(
    *,
    folder: Path,
    length: Annotated[int, Limits(3)],
    vocabulary: Path | None = None,
    vocabulary_size: Positive = 30522,
    expected_vocabulary_sha256: str | None = None,
    train_samples: Count | None = None,
    test_samples: Positive | None = None,
    seed: Seed = 0,
    wrong_encoding: str = "error",
) -> Texts:
    """Reviews as WordPiece ids with attention mask and token types; class 0 is negative, 1 positive.

    Args:
        folder: holds train/ and test/ with neg/ and pos/ each, or a folder aclImdb that holds them.
        length: tokens of every review, [CLS] and [SEP] included; longer reviews are cut, shorter ones padded.
        vocabulary: folder with BERT's vocab.txt; None trains a vocabulary on all training reviews.
        vocabulary_size: tokens of a trained vocabulary, at most.
        expected_vocabulary_sha256: of the vocab.txt; None takes any.
        train_samples: number of training reviews to take at random; None takes all.
        test_samples: the same for testing.
        seed: seed of the choice and the order (the files are sorted by class).
        wrong_encoding: a review that is not UTF-8: `error` stops, `leave_out` notes it and goes on, `replace` puts
            U+FFFD where a byte means nothing and notes it.

    Raises:
        FramewattError: a folder is missing or empty, a review is not UTF-8, or the vocabulary is another one.
    """
    if wrong_encoding not in _WRONG_ENCODING:
        raise FramewattError(f"wrong_encoding: {wrong_encoding} is not possible. Use {', '.join(_WRONG_ENCODING)}.")
    root = folder / _FOLDER if (folder / _FOLDER).is_dir() else folder
    all_train, bad_train = _read(root, "train", wrong_encoding)
    all_test, bad_test = _read(root, "test", wrong_encoding)
    if vocabulary is None:
        tokens = train_vocabulary([review.text for review in all_train], vocabulary_size)
        digest = vocabulary_sha256(tokens)
    else:
        tokens = read_vocabulary(vocabulary / _VOCABULARY)
        digest = sha256_of(vocabulary / _VOCABULARY)
    if expected_vocabulary_sha256 not in (None, digest):
        raise FramewattError(f"{vocabulary}/{_VOCABULARY}: it has sha256 {digest}. Use {expected_vocabulary_sha256}.")
    train = [all_train[i] for i in chosen(len(all_train), train_samples, "train_samples of IMDB", seed)]
    test = [all_test[i] for i in chosen(len(all_test), test_samples, "test_samples of IMDB", seed)]
    tokenizer = make_tokenizer(tokens, length)
    x_train, more_train, cut_train = _encoded(train, tokenizer, length)
    x_test, more_test, cut_test = _encoded(test, tokenizer, length)
    facts = about(
        f"WordPiece, lower case, [CLS] and [SEP], cut or padded to {length} tokens",
        read=[review.path for review in (*train, *test)],
        root=root,
        left_out=[*bad_train, *bad_test] if wrong_encoding == "leave_out" else [],
        replaced=[one.file for one in (*bad_train, *bad_test)] if wrong_encoding == "replace" else [],
        vocabulary={
            "from": "trained on the training reviews" if vocabulary is None else _VOCABULARY,
            "trained": vocabulary is None,
            "tokens": len(tokens),
            "sha256": digest,
        },
        cut={"train": cut_train, "test": cut_test},
    )
    return Texts(
        *(x_train, _labels(train), x_test, _labels(test), more_train, more_test),
        class_count=len(_CLASSES),
        about=facts,
    )


def _read(root: Path, part: str, wrong_encoding: str) -> tuple[list[_Review], list[LeftOut]]:
    """Reviews of a part in order of class and name, and the reviews that are not UTF-8."""
    reviews, bad = [], []
    for label, name in enumerate(_CLASSES):
        paths = sorted((root / part / name).glob("*.txt"))
        if not paths:
            raise FramewattError(f"{root / part / name}: it has no reviews. Use aclImdb's folders of .txt files.")
        for path in paths:
            content = path.read_bytes()
            try:
                text = content.decode("utf-8")
            except UnicodeDecodeError as error:
                if wrong_encoding == "error":
                    raise FramewattError(
                        f"{path}: it has a review that is not UTF-8 ({error.reason} at byte {error.start}). "
                        "Correct it, or set wrong_encoding: leave_out or replace."
                    ) from error
                bad.append(
                    LeftOut(path.relative_to(root).as_posix(), f"not UTF-8: {error.reason} at byte {error.start}")
                )
                if wrong_encoding == "leave_out":
                    continue
                text = content.decode("utf-8", errors="replace")
            reviews.append(_Review(path, label, text))
    return reviews, bad


def _encoded(
    reviews: Sequence[_Review], tokenizer: Any, length: int
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]], int]:
    """Token ids with their mask and types, and how many reviews were cut."""
    ids, mask, types = (np.empty((len(reviews), length), np.int64) for _ in range(3))
    cut = 0
    # In chunks, since the tokenizer's encodings take far more memory than the arrays kept from them.
    for start in range(0, len(reviews), _PORTION):
        encodings = tokenizer.encode_batch([review.text for review in reviews[start : start + _PORTION]])
        place = slice(start, start + len(encodings))
        ids[place] = [encoding.ids for encoding in encodings]
        mask[place] = [encoding.attention_mask for encoding in encodings]
        types[place] = [encoding.type_ids for encoding in encodings]
        cut += sum(bool(encoding.overflowing) for encoding in encodings)
    return ids, {"attention_mask": mask, "token_type_ids": types}, cut


def _labels(reviews: Sequence[_Review]) -> NDArray[np.int64]:
    return np.array([review.label for review in reviews], np.int64)
