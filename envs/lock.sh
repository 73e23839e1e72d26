#!/usr/bin/env bash
# Compiles every envs/**/pyproject.toml into the requirements.txt beside it: all packages pinned, with the
# index's sha256 hashes, and no address of an index, so that any mirror serves it. Run by `make lock`.
set -euo pipefail
cd "$(dirname "$0")"
find . -name pyproject.toml -printf '%h\n' | sort -r | while read -r folder; do
    case $folder in
        ./orchestrator) target=(--universal) ;;
        ./development) target=(--universal --constraints orchestrator/requirements.txt) ;;
        *) target=(--python-platform x86_64-manylinux_2_28) ;;
    esac
    echo "locking envs/${folder#./}"
    uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 "${target[@]}" \
        "$folder/pyproject.toml" --output-file "$folder/requirements.txt" "$@"
done
