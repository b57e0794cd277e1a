// Package signatures has no code, only the test that holds exported functions to
// one form of options: the last parameter, a pointer to a struct whose nil and
// zero values mean the defaults. In the packages that model code calls in every
// line it may be left out.
package signatures
