// Package imports holds the repository to ARCHITECTURE.md: its test walks all
// imports and fails where a package uses another one that its row of the table
// doesn't give it.
package imports
