// libbloom_auto.so: loads the extension into every connection of a program that cannot load
// extensions but uses the system's SQLite, for example PHP's PDO:  LD_PRELOAD=.../libbloom_auto.so
// php page.php
extern "C" int sqlite3_bloom_init();
extern "C" int sqlite3_auto_extension(void (*entry_point)());

namespace {
[[gnu::constructor]] void load() {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(sqlite3_bloom_init));
}
}  // namespace
