// Package model describes SavedModels for people and programs: what `cairn show`
// prints of one, as text, as JSON, and as the Go types that call it. Nothing of a
// model is run.
package model
