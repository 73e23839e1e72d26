"""Replication of georgiou2022: its tables beside own ones, answers to its questions, verdicts on its claims."""

from framewatt.replication.contract import Measured, claims_table
from framewatt.replication.georgiou2022_accuracies import accuracies_of_trainings
from framewatt.replication.georgiou2022_answers import answers_to_questions
from framewatt.replication.georgiou2022_costs import table2, table3, table4
from framewatt.replication.georgiou2022_findings import findings
from framewatt.replication.georgiou2022_programs import caches, figure1
from framewatt.replication.georgiou2022_runs import PAPER, PROGRAM, WINDOW
from framewatt.replication.georgiou2022_tests import tests_of
from framewatt.tables.table import Table


def claims_of_runs(measured: Measured) -> Table:
    """Verdicts on the paper's claims, from whole programs, as in the paper."""
    return claims_table(PAPER, findings(measured, tests_of(measured, PROGRAM)))


def claims_of_window(measured: Measured) -> Table:
    """Verdicts on the same claims, from the windows alone."""
    caption = (
        f"Claims of {PAPER}, and what the windows of these runs say of them, without loading, preparing and judging"
    )
    return claims_table(PAPER, findings(measured, tests_of(measured, WINDOW)), "claims_of_window", caption)


TABLES = {
    "answers": answers_to_questions,
    "claims": claims_of_runs,
    "claims_of_window": claims_of_window,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "accuracies": accuracies_of_trainings,
    "figure1": figure1,
    "caches": caches,
}
