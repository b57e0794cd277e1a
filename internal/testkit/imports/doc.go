// Package imports has no code, only the test that checks the repository against
// ARCHITECTURE.md. It walks all imports and fails if a package uses another one
// that its row of the table doesn't list.
package imports
