// Package inspect counts, sums up, verifies and compares the tensors of files, and
// reads their object graphs. It works on any [tensorfile.File].
package inspect
