#!/usr/bin/env bash
# Compiles every envs/**/pyproject.toml into the requirements.txt beside it (build-requirements.txt, what builds packages
# from sources): all packages pinned, with the index's sha256 hashes, and no address of an index, so that any mirror
# serves it. Run by `make lock`.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# Writes a file, unless it says the same: environments that are newer than their lock need not be made again.
put() {
    cat >"$scratch/new"
    cmp --silent "$scratch/new" "$1" || cat "$scratch/new" >"$1"
}

find . -name pyproject.toml -printf '%h\n' | sort -r | while read -r folder; do
    lock=requirements.txt
    case $folder in
        ./orchestrator) target=(--universal) ;;
        ./build) target=(--universal) lock=build-requirements.txt ;;
        ./development) target=(--universal --constraints orchestrator/requirements.txt) ;;
        *) target=(--python-platform x86_64-manylinux_2_28) ;;
    esac
    echo "locking envs/${folder#./}"
    # Versions that the lock has are kept where they can be.
    if [ -f "$folder/$lock" ]; then cp "$folder/$lock" "$scratch/lock"; else rm -f "$scratch/lock"; fi
    uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 "${target[@]}" \
        "$folder/pyproject.toml" --output-file "$scratch/lock" "$@"
    put "$folder/$lock" <"$scratch/lock"
done

# Packages of Node.js, with hashes and no address of a registry either; this takes an npm on PATH.
find . -name package.json -not -path '*/node_modules/*' -printf '%h\n' | while read -r folder; do
    mkdir "$scratch/node"
    cp "$folder"/package*.json "$scratch/node"
    (cd "$scratch/node" && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund)
    put "$folder/package-lock.json" <"$scratch/node/package-lock.json"
    rm -r "$scratch/node"
done

# The same lock for conda: pip installs it inside an environment that conda makes.
find . -name requirements.txt | while read -r lock; do
    {
        echo "# Generated from requirements.txt by \`make lock\`; do not edit."
        printf 'channels: [conda-forge]\ndependencies:\n  - python=3.11\n  - pip\n  - pip:\n'
        sed -e ':join' -e '/\\$/{N;s/ *\\\n */ /;bjoin' -e '}' -e 's/.*/      - "&"/' "$lock"
    } | put "${lock%requirements.txt}environment.yaml"
done

# The same lock for Apptainer. The base is a build argument; packages bound to /mnt are taken before any index.
find . -name requirements.txt | while read -r lock; do
    folder=${lock%/requirements.txt}
    # GluonNLP has no wheel, and an extension in C.
    compiler=$(grep -q '^gluonnlp==' "$lock" && echo " gcc libc6-dev" || true)
    files="" node=""
    if [ -f "$folder/package-lock.json" ]; then
        files='
    package.json /opt/framewatt/environment/package.json
    package-lock.json /opt/framewatt/environment/package-lock.json'
        node='
    if [ -d /mnt/node_modules ]; then
        cp -r /mnt/node_modules /opt/framewatt/environment
    else
        export PATH=/opt/framewatt/environment/bin:$PATH
        npm ci --ignore-scripts --no-audit --no-fund --prefix /opt/framewatt/environment
    fi'
    fi
    put "$folder/container.def" <<END
Bootstrap: {{ bootstrap }}
From: {{ from }}

# Generated from requirements.txt by \`make lock\`; do not edit.
# Build it in this folder: apptainer build --fakeroot IMAGE.sif container.def

%arguments
    bootstrap=docker
    from=python:3.11-slim-bookworm

%files
    requirements.txt /opt/framewatt/requirements.txt
    $(realpath --relative-to="$folder" build)/build-requirements.txt /opt/framewatt/build-requirements.txt$files

%post
    # What wheels expect to be there, and what builds packages without one.
    for library in libgomp1 libquadmath0$compiler; do
        dpkg -s \$library >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq \$library; }
    done
    python3 -m venv /opt/framewatt/environment
    if [ -n "\$(ls -A /mnt)" ]; then source="--no-index --find-links /mnt"; fi
    install="/opt/framewatt/environment/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir \\
        --no-deps --require-hashes \${source:-}"
    # What builds a package without a wheel is held to hashes as well, and does not stay.
    \$install --only-binary=:all: --target /opt/framewatt/build -r /opt/framewatt/build-requirements.txt
    PYTHONPATH=/opt/framewatt/build \$install --ignore-installed --use-pep517 --no-build-isolation \\
        -r /opt/framewatt/requirements.txt
    rm -r /opt/framewatt/build$node

%environment
    export PATH=/opt/framewatt/environment/bin:\$PATH

%labels
    framewatt.environment ${folder#./}
    framewatt.lock-sha256 $(sha256sum "$lock" | cut -d' ' -f1)
END
done
