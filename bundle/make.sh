#!/bin/sh
# Makes one archive that installs this version on a machine without network: `make bundle`.
#   make bundle               what web server and worker need
#   make bundle MODELS=yes    with the model code too (torch, several gigabytes)
# Make it on a machine of the same system, processor and Python version as the one that it is for.
set -eu
cd "$(dirname "$0")/.."
python=${1:?make.sh PYTHON, of an environment that has pip}
version=$(git describe --tags --always --dirty)
name=stereoscope-$version
place=var/bundle/$name
rm -rf "$place" "$place.tar"
mkdir -p "$place/wheels"

# What git knows, as it is in this folder.
git ls-files -z | xargs -0 ls -d 2>/dev/null | tar -cf "$place/source.tar" --no-recursion --files-from=-
cp bundle/install.sh "$place/"

build() { "$python" -m pip wheel --quiet --disable-pip-version-check --wheel-dir "$place/wheels" "$@"; }
if [ "${MODELS:-no}" = yes ]; then
  build -r requirements.txt
else
  build -r requirements/web.txt
  build --no-deps -r requirements/label-studio-client.txt
fi
"$python" -c 'import sys, sysconfig; print(sys.version_info[0], sys.version_info[1], sysconfig.get_platform())' > "$place/made-for"
printf '%s\n' "${MODELS:-no}" > "$place/models"
(cd "$place" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum > SHA256SUMS)
tar -C var/bundle -cf "$place.tar" "$name"
rm -rf "$place"
echo "$place.tar ($(du -h "$place.tar" | cut -f1)): unpack it there and run ./install.sh FOLDER"
