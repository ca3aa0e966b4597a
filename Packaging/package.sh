#!/bin/bash
# Makes a Debian package and a tarball of the program, neither of which needs Swift:
# package.sh PROGRAM FOLDER
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
output=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$("$program" --version | sed 's/^nearby //')
architecture=$(dpkg --print-architecture)
root="$work/root"
"$here/install.sh" "$program" "$root/usr"
install -Dm644 "$here/../LICENSE" "$root/usr/share/doc/nearby/copyright"

# Which packages the libraries are in.
mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: nearby\n\nPackage: nearby\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$root/usr/bin/nearby" 2>/dev/null \
  | sed 's/^shlibs:Depends=//')
cat >"$root/DEBIAN/control" <<END
Package: nearby
Version: $version
Architecture: $architecture
Section: science
Priority: optional
Maintainer: the authors of nearby <nobody@localhost>
Depends: $depends
Recommends: curl
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: locate ultra-wideband peers from ranges, angles and odometry
 A command line that imports recordings of many formats, locates the peers in
 them, compares the results with the truth and reports them as a page.
END
dpkg-deb --build --root-owner-group "$root" "$output/nearby_${version}_$architecture.deb" >/dev/null
tar -C "$root" --owner=0 --group=0 -czf "$output/nearby-$version-$architecture.tar.gz" usr
du -h "$root/usr/bin/nearby" | sed "s|$root||"
du -h "$output"/nearby?"$version"*
