// Package graph holds TensorFlow's graphs in memory: op definitions, nodes with
// attributes of every kind, functions, libraries, and what is known of each
// value. It reads and writes GraphDef and FunctionDef; it runs nothing.
//
// # What is in a graph
//
//	Graph ── Nodes: op, attributes, data inputs (Output of another node), control inputs
//	Function ── a Graph with arguments and results; referred to by pointer
//	Library ── functions by name: names exist at the edge of a file only
//	Concrete ── a Function with what it captures, ready to be called or saved
//
// Inputs point at nodes, not at names, so that renaming and rewriting are
// cheap, and the loops of TensorFlow 1 (NextIteration back to Merge) can be
// held.
//
// # What is known of a value
//
// A [Fact] is the type of a value, its shape as far as it is known, its value
// where that is known wholly or element by element, and what a handle holds.
// Unknown sizes have identities, so that "the same unknown number of rows" can
// be known from "two unknown numbers of rows". The rules that compute facts are
// in package graph/shape, one an op.
package graph
