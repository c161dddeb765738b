// Makes a file that a new compiler builds load with older libraries: libstdc++ of GCC 5, and
// glibc 2.24. ext/bloom.map keeps the symbols local to the extension.
#include <cstdlib>
#include <new>

// Headers of a new libstdc++ call this function, which older libraries lack.
#if defined(__GLIBCXX__) && _GLIBCXX_RELEASE >= 11
namespace std {
// NOLINTNEXTLINE(bugprone-reserved-identifier): since GCC 11, GLIBCXX_3.4.29
void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std
#endif

// glibc 2.29 gave these functions new versions that do not set errno in the old way. Nothing here
// reads errno, and the results are the same, so the extension calls the first versions.
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define BLOOM_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define BLOOM_FIRST_GLIBC "GLIBC_2.17"
#endif
extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
#define BLOOM_FIRST_VERSION(name) __asm__(".symver bloom_" #name "," #name "@" BLOOM_FIRST_GLIBC)
BLOOM_FIRST_VERSION(exp);
BLOOM_FIRST_VERSION(log);
BLOOM_FIRST_VERSION(log2);
BLOOM_FIRST_VERSION(pow);
double bloom_exp(double);
double bloom_log(double);
double bloom_log2(double);
double bloom_pow(double, double);

double exp(double x) { return bloom_exp(x); }
double log(double x) { return bloom_log(x); }
double log2(double x) { return bloom_log2(x); }
double pow(double x, double y) { return bloom_pow(x, y); }
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}
#endif
