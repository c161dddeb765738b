# shellcheck shell=bash
# A locale with a decimal comma, for the test that needs one:
#   make_german_locale    from the root of the repository; needs the package locales
# Creates the locale in build/locale, and sets LOCPATH so that programs find it there.
make_german_locale() {
  export LOCPATH=$PWD/build/locale
  [ -e "$LOCPATH/de_DE.UTF-8" ] || {
    mkdir -p "$LOCPATH" && localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8"
  }
}
