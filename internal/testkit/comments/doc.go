// Package comments has no code, only the tests that hold the module's doc
// comments to rules: every exported identifier has one, and a function's
// says what the function returns or does, not what it "is"; and what reads and
// writes checkpoints to the field's words.
package comments
