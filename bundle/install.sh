#!/bin/sh
# Installs Stereoscope from this folder, without any network: ./install.sh /opt/stereoscope
# An installation that is already there is updated; its data in var/ and its environment in .venv/ stay.
set -eu
target=${1:?"./install.sh FOLDER, such as /opt/stereoscope"}
python=${PYTHON:-python3}
cd "$(dirname "$0")"
refuse() { echo "$1" >&2; exit 1; }

sha256sum --check --quiet SHA256SUMS || refuse "This bundle is damaged. Copy it again."
here=$("$python" -c 'import sys, sysconfig; print(sys.version_info[0], sys.version_info[1], sysconfig.get_platform())')
there=$(cat made-for)
[ "$here" = "$there" ] || refuse "This bundle is for Python $there, and $python is Python $here. Set PYTHON, or make a bundle for it."
mkdir -p "$target"
[ -e "$target/manage.py" ] || [ -z "$(ls -A "$target")" ] || refuse "$target is neither empty nor an installation of Stereoscope."

# Files of an earlier version would be imported with the new ones.
tar -tf source.tar | cut -d/ -f1 | sort -u | while read -r entry; do rm -rf "${target:?}/$entry"; done
tar -C "$target" -xf source.tar
[ -x "$target/.venv/bin/python" ] || "$python" -m venv "$target/.venv"
requirements=requirements/web.txt
[ "$(cat models)" != yes ] || requirements=requirements.txt
install() { "$target/.venv/bin/python" -m pip install --quiet --no-index --find-links wheels --disable-pip-version-check "$@"; }
install -r "$target/$requirements"
install --no-deps -r "$target/requirements/label-studio-client.txt"
echo "Installed. Next:"
echo "  cd $target && . .venv/bin/activate"
echo "  python manage.py migrate"
echo "  python manage.py createsuperuser    # the first time"
echo "  python manage.py serve"
