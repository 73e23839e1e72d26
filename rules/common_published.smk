"""What the rules of the published studies ask for: printed tables, and raw results where the config names them."""

from framewatt.figures.names import figures_of
from framewatt.published import itu2023_places
from framewatt.workflow.snakemake_api import exit_on_error

STUDIES, PROFILES = setup.studies, profiles.profiles
# The paper whose printed tables of functions are held beside the profiles.
GEORGIOU2022 = "georgiou2022-published"
NAMES_OF_GEORGIOU2022 = "resources/published/georgiou2022_profile_names.csv"


def or_exit(find):
    """What a function finds; where it finds that something is missing, one line and exit code 1."""
    return exit_on_error(find)()


PAPERS = ["georgiou2022", "itu2023", "alizadeh2024"]


def raw_folder(paper):
    """The folder of a paper's raw results; None where the config names none."""
    folder = config.get(f"published_{paper}")
    return Path(folder) if folder else None


def given(paper):
    """Whether a paper's raw results are given."""
    study = STUDIES.get(f"{paper}-published")
    return study is not None and bool(study.cells)


def printed_tables(paper):
    """The tables of a paper, as it prints them."""
    return sorted(map(str, Path("resources/published").glob(f"{paper}_table*.csv")))


def verdicts_of(paper):
    """The verdicts on a paper's numbers."""
    return getattr(rules, f"verdicts_{paper}").output.verdicts[0]


def imported_runs(paper):
    """The runs frame of a paper's raw results; nothing where none are given."""
    path = rules.aggregate.output.runs.format(study=f"{paper}-published")
    return path if given(paper) else []


def imported_records(paper):
    """The folder of the records of a paper's raw results; nothing where none are given."""
    path = rules.import_runs.output.records.format(study=f"{paper}-published")
    return path if given(paper) else []


def read_profiles(output):
    """A file made of georgiou2022's profiles; nothing where none are given."""
    profiles = PROFILES.get(GEORGIOU2022)
    there = profiles is not None and any(
        Path(dump).is_file() for dump in profiles.dumps
    )
    return output.format(study=GEORGIOU2022) if there else []


def authors_tables(wildcards):
    """The tables that itu2023's authors keep beside their raw results; nothing where those are not given."""
    if not given("itu2023") or raw_folder("itu2023") is None:
        return []
    return list(
        map(str, or_exit(lambda: itu2023_places.authors_tables(raw_folder("itu2023"))))
    )


def raw_results_given(wildcards):
    """Which raw results the page is made of, in words; paths are the machine's own business."""
    return {
        f"published_{paper}": "given" if given(paper) else "not given"
        for paper in PAPERS
        if paper != "alizadeh2024"
    } | {"alizadeh2024": "no raw results are public"}
