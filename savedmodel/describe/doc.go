// Package describe describes SavedModels for people and programs: as text, as
// JSON, and as the Go types that call them. Nothing of a model is run.
package describe
