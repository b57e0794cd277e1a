// Package comments has no code, only the test that holds the module's doc
// comments to two rules: every exported identifier has one, and a function's
// says what the function returns or does, not what it "is".
package comments
