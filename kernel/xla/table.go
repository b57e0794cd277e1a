// Package xla implements the kernels of XLA's ops that compute: products, windows,
// reductions and moves as XLA's operations define them. TensorFlow runs them
// outside of a function compiled by XLA, too: it compiles each op by itself for
// the CPU.
package xla

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	floats := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} // with other types TensorFlow crashes, so there is no result to equal
	return []engine.Kernel{
		{Op: "XlaPad", Run: pad},
		{Op: "XlaBroadcastHelper", Run: broadcastHelper},
		{Op: "XlaReducePrecision", Prepare: reducePrecision},
		{Op: "XlaDot", Prepare: dot("lhs", "rhs"), Precision: engine.Accumulated},
		{Op: "XlaDotV2", Prepare: dot("lhs", "rhs"), Precision: engine.Accumulated},
		{Op: "XlaConv", Types: engine.Types{"T": floats}, Prepare: conv, Precision: engine.Accumulated},
		{Op: "XlaConvV2", Types: engine.Types{"LhsT": floats, "RhsT": floats, "preferred_element_type": floats}, Prepare: conv, Precision: engine.Accumulated},
		{Op: "XlaGather", Prepare: gather},
		{Op: "XlaScatter", Prepare: scatter, Precision: engine.Accumulated},
		{Op: "XlaSort", Run: sortLast},
		{Op: "XlaKeyValueSort", Run: sortPairs},
		{Op: "XlaVariadicSort", Prepare: variadicSort},
		{Op: "XlaReduce", Prepare: reduce, Precision: engine.Accumulated},
		{Op: "XlaVariadicReduce", Prepare: reduce, Precision: engine.Accumulated},
		{Op: "XlaVariadicReduceV2", Prepare: reduce, Precision: engine.Accumulated},
		{Op: "XlaReduceWindow", Prepare: reduceWindow, Precision: engine.Accumulated},
		{Op: "XlaDequantize", Prepare: dequantize},
		{Op: "XlaRngBitGenerator", Types: engine.Types{"dtype": {tensor.Uint8, tensor.Uint32, tensor.Uint64}}, Run: rngBitGenerator},
		{Op: "XlaSelfAdjointEig", Types: engine.Types{"T": floats}, Prepare: selfAdjointEig, Precision: engine.Accumulated},
		{Op: "XlaSvd", Types: engine.Types{"T": floats}, Prepare: svd, Precision: engine.Accumulated},
		{Op: "XlaSelectAndScatter", Prepare: selectAndScatter, Precision: engine.Accumulated},
	}
}

// fixed returns an error unless the elements of the inputs with these numbers have a
// fixed size: they are numbers or booleans.
func fixed(c *engine.Call, inputs ...int) error {
	for _, i := range inputs {
		if d := c.In(i).DType(); !d.Fixed() {
			return fmt.Errorf("input %d is %v, which XLA has no elements of", i, d)
		}
	}
	return nil
}

// next advances an index within dims, the last dimension first. It returns
// false after the last one.
func next(index []int, dims tensor.Shape) bool {
	for d := len(dims) - 1; d >= 0; d-- {
		if index[d]++; index[d] < dims[d] {
			return true
		}
		index[d] = 0
	}
	return false
}

// place returns the offset of an index in a tensor.
func place(index []int, strides []int) int {
	at := 0
	for d, i := range index {
		at += i * strides[d]
	}
	return at
}
