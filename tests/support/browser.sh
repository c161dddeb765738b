# shellcheck shell=bash
# What tests in a browser need; to be sourced after setup.sh:
#   install_browser    Chromium and Node.js, from Debian
#   install_modules    playwright-core and axe-core, from npm, in the folder $browser_modules

browser_modules=build/browser

install_browser() {
  install_missing chromium
  command -v npm > /dev/null || install_missing nodejs npm
}

install_modules() {
  mkdir -p "$browser_modules"
  npm install --silent --no-audit --no-fund --prefix "$browser_modules" playwright-core@1.65.1 axe-core@4.14.1
}
