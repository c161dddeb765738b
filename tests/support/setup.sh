# shellcheck shell=sh
# Installs the tools that a script needs. Tests and the demo source this file:
#     install_missing g++ cmake || exit 1
# Never prompts the user.

# install_missing PKG...: installs the Debian packages that are not installed. If that is impossible
# (no apt-get, no root, no network), checks whether the tools of the packages are present anyway.
# Fails if not, and names the missing packages.
install_missing() {
  if command -v apt-get >/dev/null && may_become_root; then
    # shellcheck disable=SC2046 # names of packages hold no blanks
    apt_install $(not_installed "$@")
  fi
  require_present "$@"
}

not_installed() {
  for package in "$@"; do
    is_installed "$package" || echo "$package"
  done
}

is_installed() {
  dpkg-query -W -f '${db:Status-Abbrev}\n' "$1" 2>/dev/null | grep -q '^.i '
}

# Ignores failures: install_missing checks afterwards which tools are present.
apt_install() {
  [ $# -gt 0 ] || return 0
  printf 'apt-get install %s ... ' "$*"
  as_root apt-get update || :
  # shellcheck disable=SC2046 # names of packages hold no blanks
  as_root apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 \
    $(known_to_apt "$@") || :
}

# Prints the packages that this release has. For an unknown package, apt-get would install none.
known_to_apt() {
  for package in "$@"; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      echo "$package"
    fi
  done
}

may_become_root() { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }

# Runs a command as root. Shows its output only if it fails, because apt-get prints a lot.
as_root() {
  set -- env DEBIAN_FRONTEND=noninteractive "$@"
  if [ "$(id -u)" -ne 0 ]; then
    set -- sudo -n "$@"
  fi
  command_output=$("$@" 2>&1 </dev/null) || {
    printf '\n%s\n' "$command_output" >&2
    return 1
  }
}

require_present() {
  missing=
  for package in "$@"; do
    is_installed "$package" || is_present "$package" || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    printf '\n%s: tools or libraries are missing and cannot be installed from here. Install these Debian packages:%s\n' \
      "$0" "$missing" >&2
    return 1
  fi
}

# Returns whether the tools of a package are present, from Debian or elsewhere.
is_present() {
  case $1 in
    g++) command -v "${CXX:-c++}" >/dev/null ;;
    libsqlite3-dev) has_header sqlite3ext.h ;;
    libgtest-dev) has_header gtest/gtest.h ;;
    libmurmurhash-dev) has_header murmurhash.h || say_without_murmurhash ;;
    binutils) command -v readelf >/dev/null ;;
    g++-mingw-w64-x86-64-posix) command -v x86_64-w64-mingw32-g++-posix >/dev/null ;;
    g++-*) command -v "${1#g++-}-g++" >/dev/null ;;
    googletest) [ -e /usr/src/googletest/CMakeLists.txt ] ;;
    qemu-user) command -v qemu-s390x >/dev/null ;;
    wine64) command -v wine >/dev/null ;;
    musl) [ -e /lib/ld-musl-x86_64.so.1 ] ;;
    lld-16) command -v ld64.lld-16 >/dev/null ;;
    llvm-16) command -v llvm-lipo-16 >/dev/null ;;
    dpkg-dev) command -v dpkg-deb >/dev/null ;;
    clang) command -v clang++ >/dev/null ;;
    llvm) command -v llvm-cov >/dev/null && command -v llvm-profdata >/dev/null ;;
    libclang-rt-dev) echo 'int main() {}' | clang++ -fprofile-instr-generate -x c++ -o /dev/null - ;;
    emscripten) command -v emcc >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    nodejs) command -v node >/dev/null ;;
    firefox-esr) command -v "${FIREFOX:-firefox-esr}" >/dev/null ;;
    webkit2gtk-driver) command -v WebKitWebDriver >/dev/null ;;
    python3-*) /usr/bin/python3 -c "import ${1#python3-}" ;;
    default-jdk-headless) command -v javac >/dev/null ;;
    libxerial-sqlite-jdbc-java) [ -e /usr/share/java/sqlite-jdbc.jar ] ;;
    libdbd-sqlite3-perl) perl -MDBD::SQLite -e 1 ;;
    tcl) command -v tclsh >/dev/null ;;
    libsqlite3-tcl) echo 'exit [catch {package require sqlite3}]' | tclsh ;;
    golang-go) command -v go >/dev/null ;;
    golang-github-mattn-go-sqlite3-dev) [ -d /usr/share/gocode/src/github.com/mattn/go-sqlite3 ] ;;
    ruby-sqlite3) ruby -e 'require "sqlite3"' ;;
    php-cli) command -v php >/dev/null ;;
    php-sqlite3) php -r 'exit(class_exists("SQLite3") ? 0 : 1);' ;;
    librust-rusqlite-dev) [ -d /usr/share/cargo/registry/rusqlite-0.28.0 ] ;;
    librust-cc-dev) ls -d /usr/share/cargo/registry/cc-1* >/dev/null 2>&1 ;;
    locales | codespell) ;; # without it, one test is skipped
    *) command -v "$1" >/dev/null ;;
  esac
}

# Not an error: some distributions lack the package, and the build works without it.
say_without_murmurhash() {
  echo "libmurmurhash-dev is missing: tests HashLibrary.* are skipped, core_bench omits the library" >&2
}

# without_aslr COMMAND...: runs it with fixed addresses if the kernel and the container allow that.
without_aslr() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    setarch "$(uname -m)" -R "$@"
  else
    "$@"
  fi
}

has_header() {
  echo "#include <$1>" | "${CXX:-c++}" -x c++ -E - >/dev/null 2>&1
}
