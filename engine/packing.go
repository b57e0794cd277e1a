package engine

import "github.com/cairnml/cairn/tensor"

// Packing is a form of an input, such as the panels of a matrix. A plan
// computes it once for all calls with the same input; the kernel gets it from
// [Call.Packed]. The zero Packing is none.
type Packing int

// packRequest is a request of a kernel when it was prepared.
type packRequest struct {
	input int
	key   string
	pack  PackFunc
}

// PackFunc makes a form of a tensor and returns its size in bytes. The form is
// nil if it is not worthwhile. It must not change afterwards, and must not
// refer to the tensor.
type PackFunc func(t *tensor.Tensor) (form any, bytes int)

// Invariant reports whether input i is the same in all calls as long as no
// variable is written to: it is a constant, or computed from constants and
// variables alone. Inputs of eager calls are not.
func (n *Node) Invariant(i int) bool { return n.invariant.has(i) }

// Pack requests a form of input i if the input is invariant; otherwise it
// returns the zero Packing. A kernel calls it while it is prepared. Nodes with
// the same key and the same value share the form. So the key must identify the
// kind of form, and everything that the form depends on besides the tensor.
func (n *Node) Pack(i int, key string, pack PackFunc) Packing {
	if !n.invariant.has(i) {
		return 0
	}
	n.packs = append(n.packs, packRequest{i, key, pack})
	return Packing(len(n.packs))
}

// Packed returns the form that [Node.Pack] requested, or nil if there is none
// and the kernel has to pack the input itself.
func (c *Call) Packed(p Packing) any {
	if p == 0 || int(p) > len(c.packs) {
		return nil
	}
	return c.forms[c.packs[p-1]]
}
