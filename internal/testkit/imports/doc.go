// Package imports checks the repository against ARCHITECTURE.md: its test walks
// all imports and fails if a package uses another one that its row of the table
// doesn't list.
package imports
