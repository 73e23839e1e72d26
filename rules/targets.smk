# What is asked for by its path is checked once all rules are known.
from framewatt.workflow.targets import check_targets, of_paths, of_study, there_already

PUBLISHED = (
    rules.verdicts_alizadeh2024,
    rules.verdicts_georgiou2022,
    rules.verdicts_itu2023,
)

or_exit(
    lambda: check_targets(
        CALL.targets,
        {
            **{
                name: of_study(
                    study,
                    PROFILES.get(name),
                    [
                        *(["functions_published"] if name == GEORGIOU2022 else []),
                        *(OPERATOR_TABLES if name in TIMELINES else []),
                        *(["repeated"] if name in REPEATED else []),
                    ],
                )
                for name, study in STUDIES.items()
            },
            "published": of_paths(path for rule in PUBLISHED for path in rule.output),
        },
    )
)
THERE = there_already(
    CALL.targets,
    STUDY.name,
    lambda path: any(rule.is_producer(path) for rule in workflow.rules),
)
if THERE:
    # Snakemake takes a path that no rule makes for a mistake.
    SETTINGS.targets = frozenset({*SETTINGS.targets, "there"} - {*THERE})
