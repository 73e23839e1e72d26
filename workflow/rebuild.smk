# What follows from the raw traces and records of a package, and nothing else (see src/framewatt/package/rebuild.py).


include: "Snakefile"


# Where there is a checkpoint, Snakemake asks the rules that are not allowed for their inputs too: for files of the
# user's models, or of a paper's authors, that no package holds. What it would look into is in the package.
rules.look.rule.is_checkpoint = False
