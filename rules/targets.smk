# What is asked for by its path is checked once all rules are known.
from framewatt.flow.targets import Kind, check_targets

FIGURE_SUFFIXES, TABLE_SUFFIXES = [".svg", ".pdf", ".png"], [".csv", ".md", ".tex"]


def made_of(study):
    """What can be asked for of a study's figures and tables."""
    training = [f"training_{name}" for name in TRAINING_FIGURES]
    shown = training if shows_training(study) else []
    shown += ["stopping"] if study.name in STOPPING else []
    profiled = study.name in PROFILED
    return {
        "figures": Kind(
            "figure",
            [*FIGURES, *shown],
            FIGURE_SUFFIXES,
            ("callgraph",) if profiled else (),
        ),
        "tables": Kind(
            "table",
            [*TABLES, *(["functions_published", *FUNCTION_TABLES] if profiled else [])],
            TABLE_SUFFIXES,
        ),
    }


def made_of_published():
    """What can be asked for of the published studies' figures and tables: what their rules make."""
    rules_of = [rules.verdicts_alizadeh2024, rules.verdicts_georgiou2022]
    paths = [
        Path(path)
        for rule in [*rules_of, rules.verdicts_itu2023]
        for path in rule.output
    ]

    def named(folder):
        return sorted({path.stem for path in paths if path.parent.name == folder})

    return {
        "figures": Kind("figure", named("figures"), FIGURE_SUFFIXES),
        "tables": Kind("table", named("tables"), TABLE_SUFFIXES),
    }


or_exit(
    lambda: check_targets(
        SETTINGS.targets if SETTINGS else [],
        {
            **{name: made_of(study) for name, study in STUDIES.items()},
            "published": made_of_published(),
        },
    )
)


def there_and_not_due():
    """What was asked for by its path and is there, as the study is now, so that no rule makes it."""
    paths = SETTINGS.targets if SETTINGS else []
    below = [path for path in paths if path.startswith(f"results/{STUDY.name}/")]
    return [
        path
        for path in below
        if Path(path).exists()
        and not any(rule.is_producer(path) for rule in workflow.rules)
    ]


THERE = there_and_not_due()
if THERE:
    # Snakemake takes a path that no rule makes for a mistake.
    SETTINGS.targets = frozenset({*SETTINGS.targets, "there"} - {*THERE})
