// Package rooms holds the repository to ARCHITECTURE.md: its test walks all
// imports and fails where a package reaches for a room that its row of the table
// doesn't give it.
package rooms
