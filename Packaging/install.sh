#!/bin/bash
# Installs the program with its manual page and completions: install.sh PROGRAM PREFIX
set -euo pipefail
program=$1
prefix=$2

install -d "$prefix/bin" "$prefix/share/man/man1" \
  "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" \
  "$prefix/share/fish/vendor_completions.d"
install -Dm644 -t "$prefix/share/nearby" "$(dirname "$0")/../Datasets/datasets.json"
strip -o "$prefix/bin/nearby" "$program"
chmod 755 "$prefix/bin/nearby"
for shell in bash:bash-completion/completions/nearby zsh:zsh/site-functions/_nearby \
  fish:fish/vendor_completions.d/nearby.fish; do
  "$program" --generate-completion-script "${shell%%:*}" >"$prefix/share/${shell#*:}"
done

# The manual is the help of each command; a backslash, a leading point and a leading quote mean something
# to the formatter.
roff() { sed -e 's/\\/\\e/g' -e "s/^\([.']\)/\\\\\&\1/"; }
{
  echo ".TH NEARBY 1 \"\" \"$("$program" --version)\""
  printf '.SH NAME\nnearby \\- locate UWB peers from ranges, angles and odometry\n.SH DESCRIPTION\n.nf\n'
  "$program" --help | roff
  for command in $("$program" --help | sed -n '/^SUBCOMMANDS:/,$ s/^  \([a-z]*\) .*/\1/p'); do
    printf '.fi\n.SH NEARBY %s\n.nf\n' "${command^^}"
    "$program" "$command" --help | roff
  done
} | gzip -9n >"$prefix/share/man/man1/nearby.1.gz"
