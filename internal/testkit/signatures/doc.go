// Package signatures has no code, only the test that holds exported functions to
// one form of options: the last parameter, a pointer to a struct whose nil and
// zero values mean the defaults. In packages ops, grad and function, which model code
// calls in every line, the parameter is variadic, so that a call may leave it out.
package signatures
