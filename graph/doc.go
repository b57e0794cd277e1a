// Package graph contains TensorFlow's graphs in memory: op definitions, nodes
// with attributes of every kind, functions, libraries, and the known properties
// of each value. It reads and writes GraphDef and FunctionDef; it runs nothing.
//
// # Contents of a graph
//
//	Graph ── Nodes: op, attributes, data inputs (Output of another node), control inputs
//	Function ── a Graph with arguments and results; referred to by pointer
//	Library ── functions by name: names exist at the edge of a file only
//	Concrete ── a Function with its captures, ready to be called or saved
//
// Inputs point at nodes, not at names. So renaming and rewriting are cheap, and
// the loops of TensorFlow 1 (NextIteration back to Merge) can be represented.
//
// # Facts about a value
//
// A [Fact] is the type of a value and its shape, as far as it is known. It may
// also have the value, as a whole or for some elements, and the contents of a
// handle. Unknown sizes have identities, so "the same unknown number of rows"
// differs from "two unknown numbers of rows". The rules that compute facts are
// in package graph/shape, one per op.
package graph
