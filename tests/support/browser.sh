# shellcheck shell=bash
# What tests in a browser need; to be sourced after setup.sh and check.sh:
#   install_browsers NAME...   chromium, firefox or webkit, and Node.js, from Debian
#   install_modules            playwright-core and axe-core, from npm, in the folder $browser_modules
#   test_in_browser            runs a test in one of them

browser_modules=build/browser

install_browsers() {
  local name
  command -v npm > /dev/null || install_missing nodejs npm
  for name in "$@"; do
    case $name in
      chromium) install_missing chromium ;;
      firefox) install_missing firefox-esr ;;
      webkit) install_missing webkit2gtk-driver xvfb xauth ;;
    esac || true
  done
}

has_browser() {
  case $1 in
    chromium) [ -e "${CHROMIUM:-/usr/bin/chromium}" ] ;;
    firefox) [ -e "${FIREFOX:-/usr/bin/firefox-esr}" ] ;;
    webkit) command -v WebKitWebDriver > /dev/null && command -v xvfb-run > /dev/null ;;
  esac
}

# Later releases of playwright-core send Firefox ESR commands that it does not know.
install_modules() {
  mkdir -p "$browser_modules"
  npm install --silent --no-audit --no-fund --prefix "$browser_modules" playwright-core@1.61.1 axe-core@4.14.1
}

in_browser() {
  local name=$1
  shift
  case $name in
    webkit) xvfb-run -a -s "-screen 0 1400x1100x24" "$@" ;;
    *) "$@" ;;
  esac
}

# test_in_browser NAME WHAT LOG PROGRAM ARGUMENT...: runs node PROGRAM NAME ARGUMENT... and adds its counts.
test_in_browser() {
  local name=$1 what=$2 log=$3 program=$4
  shift 4
  if has_browser "$name"; then
    in_browser "$name" node "$program" "$name" "$@" > "$log" 2>&1 || true
    add_up "$what in $name" "$log"
  else
    echo "  skipped $what in $name: the browser is not installed"
  fi
}
