"""What of a window's energies is held against its run."""

from framewatt.runs.verdict import told_of

STILL = ["counter has not moved in 40 s"]


def energy(reasons: list[str] | None = None, flags: list[str] | None = None) -> dict:
    return {"reasons": reasons or [], "flags": flags or []}


def test_a_counter_that_no_total_needs_is_flagged_and_spoils_no_run() -> None:
    for domain in ("cpu:uncore-0", "cpu:core-0", "cpu:psys"):
        energies = {"cpu:package-0": energy(flags=["1 failed reads bridged"]), domain: energy(STILL)}
        assert told_of(energies, "reasons") == []
        assert told_of(energies, "flags") == [
            "cpu:package-0: 1 failed reads bridged",
            f"{domain}: does not count: counter has not moved in 40 s",
        ]


def test_what_a_total_needs_is_a_reason() -> None:
    energies = {"cpu:package-0": energy(STILL), "cpu:dram-0": energy(STILL), "cpu:uncore-0": energy(STILL)}
    assert told_of(energies, "reasons") == [
        "cpu:package-0: counter has not moved in 40 s",
        "cpu:dram-0: counter has not moved in 40 s",
    ]
    # Without a package, psys is the total.
    assert told_of({"cpu:psys": energy(STILL)}, "reasons") == ["cpu:psys: counter has not moved in 40 s"]
    assert told_of({"cpu:psys": energy(STILL), "gpu:0": energy()}, "flags") == []
