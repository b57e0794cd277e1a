// Package scan examines a SavedModel's graph for effects other than computing:
// access to files, networks and code, sizes that would fill the memory,
// functions that call themselves, unknown ops, and names that are paths to other
// directories. It examines GraphDefs too. In files of Keras it examines the
// Python code that they contain or import. It runs nothing and reads no weights.
//
// [Path], [Dir] and [Bytes] scan and return a [Report]. [SARIF] writes reports
// for other programs.
package scan
