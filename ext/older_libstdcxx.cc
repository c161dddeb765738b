// Defines a function that headers of a new libstdc++ call and older libraries lack. With this
// definition the extension also loads on Debian 11 and Ubuntu 20.04. ext/bloom.map keeps the symbol
// local to the extension.
#include <new>

#if defined(__GLIBCXX__) && _GLIBCXX_RELEASE >= 11
namespace std {
// NOLINTNEXTLINE(bugprone-reserved-identifier): since GCC 11, GLIBCXX_3.4.29
void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std
#endif
