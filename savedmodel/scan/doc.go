// Package scan looks for what a SavedModel's graph would do besides computing (in
// files of Keras for the Python code that they carry or import):
// files, networks and code that its ops reach, sizes that would fill the memory,
// calls without end, ops that nobody knows, names that lead elsewhere. Nothing is
// run, and no weights are read.
package scan
