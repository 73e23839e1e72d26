# Targets are checked when all rules are known.
THERE = study_inputs.check_targets(
    [
        path
        for rule in (
            rules.verdicts_alizadeh2024,
            rules.verdicts_georgiou2022,
            rules.verdicts_itu2023,
        )
        for path in rule.output
    ],
    {GEORGIOU2022: ["functions_published"]},
)


# Targets that exist and that no rule makes: nothing is to be done.
rule there:
    input:
        THERE,
