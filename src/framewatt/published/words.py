"""Summary of the verdicts in words, with every number taken from the tables."""

import pandas as pd

from framewatt.published.printed import CUT_OFF, DEVIATES, REPRODUCED, UNKNOWN

CITATIONS = {
    "georgiou2022": "S. Georgiou, M. Kechagia, T. Sharma, F. Sarro and Y. Zou: Green AI: Do Deep Learning Frameworks "
    "Have Different Costs? ICSE 2022, doi:10.1145/3510003.3510221",
    "itu2023": "C. Sotillos Peceroso, Í. Ó. Sigursson and J. del Pozo Lérida: Sustainable AI: Evaluating the energy "
    "efficiency of PyTorch and TensorFlow frameworks. IT University of Copenhagen, 2023",
    "alizadeh2024": "N. Alizadeh and F. Castor: Green AI: A Preliminary Empirical Study on Energy Consumption in DL "
    "Models Across Different Runtime Infrastructures. CAIN 2024",
}
"""Where each study was published."""


def lead(frames: dict[str, pd.DataFrame]) -> str:
    """All studies in a sentence or two."""
    every = pd.concat(frames.values())
    return f"{len(every)} published numbers of {len(frames)} studies were recounted: {_counted(every)}."


def summary(frame: pd.DataFrame) -> list[str]:
    """Sentences that sum up the verdicts of one study."""
    sentences = [f"{len(frame)} numbers: {_counted(frame)}."]
    cut = frame["note"].fillna("").str.contains(CUT_OFF, regex=False).sum()
    if cut:
        sentences.append(f"Reproduced, but printed with the last digits cut off, not rounded: {cut}.")
    reasons = frame.loc[frame["verdict"] == UNKNOWN, "note"].value_counts()
    sentences += [f"Cannot be recomputed: {count}, since {reason}." for reason, count in reasons.items()]
    return sentences


def _counted(frame: pd.DataFrame) -> str:
    found = {verdict: int((frame["verdict"] == verdict).sum()) for verdict in (REPRODUCED, DEVIATES, UNKNOWN)}
    return f"{found[REPRODUCED]} reproduced, {found[DEVIATES]} deviating, {found[UNKNOWN]} that cannot be recomputed"
