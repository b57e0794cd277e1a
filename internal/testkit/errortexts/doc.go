// Package errortexts is a test of the style of the texts of all errors that the module makes.
// CONTRIBUTING.md has the rules.
package errortexts
