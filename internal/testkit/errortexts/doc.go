// Package errortexts has no code, only a test of the style of all texts of errors that the
// module makes. CONTRIBUTING.md has the rules. Within them a text may change.
package errortexts
