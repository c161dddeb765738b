// Compiles the extension, bloom.cc beside this file, so that it calls SQLite directly.
fn main() {
    println!("cargo:rerun-if-changed=bloom.cc");
    let mut build = cc::Build::new();
    if let Some(folder) = std::env::var_os("SQLITE3_INCLUDE_DIR") {
        build.include(folder);
    }
    build.cpp(true).opt_level(2).flag("-std=c++20").define("SQLITE_CORE", None).file("bloom.cc").compile("bloom");
}
