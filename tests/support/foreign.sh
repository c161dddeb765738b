# shellcheck shell=bash
# Debian's Python and sqlite3 shell for another processor; to be sourced:
#   foreign_programs ARCHITECTURE FOLDER EMULATOR   makes FOLDER/bin/python3 and FOLDER/bin/sqlite3, which
#                                                   run in EMULATOR of qemu-user; status 77 if apt-get
#                                                   cannot fetch them
# Packages are unpacked into FOLDER. They are not installed: this machine's packages stay as they are.

foreign_programs() {
  local folder=$2 package name
  fetch_for "$1" "$folder/apt" python3 sqlite3 libstdc++6 || {
    echo "apt-get cannot fetch Python for $1 (no Debian, or no network?)"
    return 77
  }
  rm -rf "${folder:?}"/{root,bin}
  mkdir -p "$folder/bin"
  for package in "$folder"/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder/root" || return
  done
  for name in python3 sqlite3; do
    write_program "$folder" "$3" "$name" || return
  done
}

# fetch_for ARCHITECTURE FOLDER PACKAGE...: puts these packages and all that they depend on into
# FOLDER/archives. Without a status file, apt-get takes every package for missing. `sources` names another
# sources.list than this machine's.
fetch_for() {
  local architecture=$1 folder=$2
  local options=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o Acquire::Languages=none
    -o "Dir::State=$folder" -o "Dir::State::lists=$folder/lists" -o Dir::State::status=/dev/null
    -o "Dir::Cache=$folder" -o Debug::NoLocking=1 -o APT::Sandbox::User=)
  [ -z "${sources:-}" ] || options+=(-o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=-)
  shift 2
  mkdir -p "$folder"/{lists,archives}/partial
  apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install --yes --no-install-recommends --download-only "$@"
}

# Tests start sys.executable, which Python derives from its name: the emulator passes on that of the
# script. LD_PRELOAD is for this machine's programs.
write_program() {
  local folder=$1 root=$1/root script=$1/bin/$3 program
  program=$(readlink -f "$root/usr/bin/$3")
  cat > "$script" << END
#!/bin/sh
exec env -u LD_PRELOAD $2 -L '$root' -E 'PYTHONHOME=$root/usr' -0 '$script' '$program' "\$@"
END
  chmod +x "$script"
}
