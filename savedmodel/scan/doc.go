// Package scan examines a SavedModel's graph for effects other than computing:
// access to files, networks and code, sizes that would fill the memory, calls
// without end, unknown ops, and names that are paths to other directories. In
// files of Keras it examines the Python code that they contain or import. It
// runs nothing and reads no weights.
package scan
