# Targets are checked when all rules are known.
THERE = study_inputs.check_targets(
    published_files(),
    {study: [COMPARED_FUNCTIONS] for study in papers.with_profiles},
)


# Targets that exist and that no rule makes: nothing is to be done.
rule there:
    input:
        THERE,
