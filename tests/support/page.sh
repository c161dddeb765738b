# shellcheck shell=bash
# Sections of a page whose commands a test runs; to be sourced after setup.sh, with the page in $page.
# A section is named by the first word of its heading, in lower case. Its block "sh" has the commands;
# the first of them installs Debian packages with apt-get.
#   section NAME             the lines of the section
#   block LANGUAGE           of the lines of its input, those in blocks of this language
#   packages NAME            the Debian packages of the section
#   commands NAME            the other commands of the section
#   sections_with_commands   the names of all sections that have commands
#   install_packages NAME... installs what these sections need

# Prints the page, with the first word of the section heading before each line.
# shellcheck disable=SC2154 # set by the script that sources this file
named() { awk '/^## / { name = tolower($2); sub(/:$/, "", name) } { print name "|" $0 }' "$page"; }

section() { named | sed -n "s/^$1|//p"; }

sections_with_commands() { named | sed -n 's/|```sh$//p'; }

block() { awk -v fence="\`\`\`$1" '/^```/ { on = $0 == fence; next } on'; }

packages() { section "$1" | block sh | sed -n 's/^apt-get install //p'; }

commands() { section "$1" | block sh | sed '/^apt-get /d'; }

all_packages() {
  local name
  for name in "$@"; do
    packages "$name" | tr ' ' '\n'
  done | sort -u
}

# Tools from other sources may conflict with Debian's packages, as other builds of Node do.
install_packages() {
  local package wanted=()
  for package in $(all_packages "$@"); do
    is_installed "$package" || is_present "$package" 2> /dev/null || wanted+=("$package")
  done
  [ ${#wanted[@]} -eq 0 ] || install_missing "${wanted[@]}"
}

# use_own_caches FOLDER: package managers read and write inside this folder only.
use_own_caches() {
  export npm_config_cache=$1/npm GOCACHE=$1/go XDG_CACHE_HOME=$1 CARGO_HOME=$1/cargo
  # Node's headers, where they are installed.
  [ ! -e /usr/include/node/node.h ] || export npm_config_nodedir=/usr
}
