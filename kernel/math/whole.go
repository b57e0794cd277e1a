package math

import (
	"slices"

	"github.com/cairnml/cairn/kernel/internal/vec"
)

// whole is a program with a single loop that does all its ops to an element and
// computes the same bits. If the operands come from memory, a pass op by op
// costs more than the arithmetic.
type whole[T float32 | float64] struct {
	ops              []string
	operands, stores []int64
	singles          []int // the inputs of one element
	// run takes the elements of the node's inputs, in their order
	run func(in [][]T)
}

func wholesOf[T float32 | float64]() []whole[T] {
	return []whole[T]{{
		// Adam. The inputs are the gradient, 1-beta1, 1-beta2, alpha, epsilon,
		// and the variables m, v and the trained one.
		ops:      []string{"Sub", "Mul", "AddV2", "Square", "Sub", "Mul", "AddV2", "Mul", "Sqrt", "AddV2", "RealDiv", "Sub"},
		operands: []int64{0, 5, 8, 1, 5, 9, 0, -1, 11, 6, 12, 2, 6, 13, 10, 3, 14, -1, 16, 4, 15, 17, 7, 18},
		stores:   []int64{-1, -1, 0, -1, -1, -1, 1, -1, -1, -1, -1, 2},
		singles:  []int{1, 2, 3, 4},
		run: func(in [][]T) {
			vec.AdamStep(in[7], in[5], in[6], in[0], in[3][0], in[1][0], in[2][0], in[4][0])
		},
	}}
}

var (
	wholes32 = wholesOf[float32]()
	wholes64 = wholesOf[float64]()
)

// wholeOf returns the loop of a program, nil if it has none. A program has it only if its ops,
// operands and stores are exactly these.
func wholeOf[T float32 | float64](wholes []whole[T], ops []string, operands, stores []int64) *whole[T] {
	for i := range wholes {
		if w := &wholes[i]; slices.Equal(w.ops, ops) && slices.Equal(w.operands, operands) && slices.Equal(w.stores, stores) {
			return w
		}
	}
	return nil
}

// takes reports whether the loop accepts inputs of these kinds. The last ones
// are the variables, which must all be different.
func (w *whole[T]) takes(sources []source[T], variables int) bool {
	for i := range sources {
		isSingle := slices.Contains(w.singles, i)
		if s := &sources[i]; isSingle && len(s.data) != 1 || !isSingle && s.kind != entire {
			return false
		}
	}
	held := sources[len(sources)-variables:]
	for i := range held {
		for j := range i {
			if &held[i].data[0] == &held[j].data[0] {
				return false
			}
		}
	}
	return true
}

// over runs the loop over n elements from at on.
func (w *whole[T]) over(st *tileState[T], sources []source[T], at, n int) {
	st.values = slices.Grow(st.values[:0], len(sources))[:len(sources)]
	defer clear(st.values)
	for i := range sources {
		if st.values[i] = sources[i].data; !slices.Contains(w.singles, i) {
			st.values[i] = sources[i].data[at : at+n]
		}
	}
	w.run(st.values)
}
