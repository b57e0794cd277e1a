// Package comments has no code, only the tests that hold the module's texts to
// rules. Every exported identifier needs a doc comment. That of a function must
// not begin with "F is": it describes the result or the action. Comments and
// documents use the words of the field and of the glossary, and few of the
// constructions that testdata/prose.txt counts. Lists of tests and promises must
// be complete.
package comments
