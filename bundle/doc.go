// Package bundle reads and writes TensorFlow's checkpoint files: TensorBundle
// (version 2) and, for reading, the older single table (version 1).
package bundle
