// Package errortexts has no code, only tests of the texts of all errors that the module makes.
// CONTRIBUTING.md has the rules of their style. Within these rules a text may change, together with
// the goldens that contain it. testdata/errors.txt lists all texts, and
// `go test ./internal/testkit/errortexts -update` writes it.
package errortexts
