// What the headers of a new libstdc++ call that older ones do not have: with an answer of its own
// the library loads where those are installed, on Debian 11 and Ubuntu 20.04. ext/bloom.map keeps
// it from others.
#include <new>

#if defined(__GLIBCXX__) && _GLIBCXX_RELEASE >= 11
namespace std {
// NOLINTNEXTLINE(bugprone-reserved-identifier): since GCC 11, GLIBCXX_3.4.29
void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std
#endif
