"""Rule archive: the study as one zip with a manifest."""

import json
from pathlib import Path

from framewatt.archive import project_files, study_files, write_package
from framewatt.identity import ROOT, code_identity

package = Path(snakemake.output.package)
files = project_files(ROOT, Path(snakemake.input.study), snakemake.params.environments)
files |= study_files(package.parents[1])
identity = {"code": code_identity(), "config": snakemake.config}
count = write_package(package, files, {"identity.json": json.dumps(identity, indent=1) + "\n"})
print(f"{package}: {count} files, {package.stat().st_size / 1e6:.1f} MB")
