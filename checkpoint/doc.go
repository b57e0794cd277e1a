// Package checkpoint saves and restores the object graph of a Go program in
// TensorFlow's checkpoints.
package checkpoint
