package base

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/ops"
)

// budget is the memory that layers built on a scope may use for their variables.
type budget struct {
	used  atomic.Int64
	limit int64
}

type budgetKey struct{}

// WithWeightLimit returns a scope on which all layers together may make variables of limit
// bytes; 0 means half of the machine's memory. Models of files, which may ask for any
// size, are built on one. Default: each layer may use the machine's memory.
func WithWeightLimit(s *ops.Scope, limit int64) *ops.Scope {
	if limit <= 0 {
		limit = engine.MachineMemory() / 2
	}
	return s.With(budgetKey{}, &budget{limit: limit})
}

// afford returns an error if the variables of a layer, all of known sizes, take too much
// memory. Layer.build asks before it makes any. The bytes count even if the build fails later.
// The limits are ours: they protect from configs of files, which may ask for any size.
func afford(s *ops.Scope, l *Layer, list []Weight) error {
	b, ok := s.Value(budgetKey{}).(*budget)
	if !ok {
		b = &budget{limit: engine.MachineMemory()}
	}
	for i := range list {
		w := &list[i]
		d := w.DType
		if d == 0 {
			d = l.DType.Variables()
		}
		size := uint64(max(1, d.Size()))
		for _, n := range w.Shape {
			hi, lo := bits.Mul64(size, uint64(n))
			if size = lo; hi != 0 || lo > 1<<62 {
				return fmt.Errorf("the weight %q of the shape %v takes more memory than there is", w.Edge, w.Shape)
			}
			if n == 0 {
				break
			}
		}
		if used := b.used.Add(int64(size)); used > b.limit || used < 0 {
			return fmt.Errorf("the weight %q of the shape %v takes %d bytes, which is too much (got %d bytes with the layers before, want at most %d)", w.Edge, w.Shape, size, used, b.limit)
		}
	}
	return nil
}
