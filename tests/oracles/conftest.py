"""What was seen is told at the end: the largest differences of every comparison that passed."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    told = [pair for report in terminalreporter.getreports("passed") for pair in report.user_properties]
    if told:
        terminalreporter.section("largest differences, in standard deviations of what is compared")
    for name, value in told:
        terminalreporter.write_line(f"{name:60} {value:.1e}")
