package trackable

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/internal/scratch"
	"github.com/cairnml/cairn/tensor"
)

// tensorLists keeps the lists that restoreAll passes to f, for later calls.
var tensorLists scratch.Pool[*tensor.Tensor]

// ErrWritten reports that a variable was written since it was created or
// restored.
var ErrWritten = errors.New("trackable: it was written since it was made, which a restore that comes late would undo")

// restoreAll replaces the values of several variables at once without reading
// them: f gets a tensor for each, of its type and of the shape that shape returns
// for variable number i, and fills it completely. The tensor is the variable's
// own storage if that fits and no other reference to it exists, so that a restore
// needs no second copy of a large variable. If f fails, its writes there stay.
// Shapes and types are checked before f is called; shape is called by several
// goroutines. The variables don't count as written then. f must not keep the
// list.
func restoreAll(vars []*Variable, shape func(i int) tensor.Shape, f func(bufs []*tensor.Tensor) error, o *restoring.Options) error {
	if o == nil {
		o = new(restoring.Options)
	}
	list := tensorLists.Get()
	bufs := scratch.Of(list, len(vars))
	clear(bufs)
	defer func() {
		clear(bufs)
		tensorLists.Put(list)
	}()
	if err := lockAll(vars, func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			bufs[i], err = vars[i].restorable(shape(i), o)
		}
		return err
	}); err != nil {
		return err
	}
	if err := filled(vars, bufs, f); err != nil {
		return err
	}
	eachShare(len(vars), func(_, from, to int) {
		for i := from; i < to; i++ {
			v := vars[i]
			if v.outlives(o) {
				v.mu.Unlock()
				continue
			}
			if v.cell.Load().t != bufs[i] {
				v.cell.Store(&cell{t: bufs[i]})
			}
			v.written = false
			if o.Stamp != 0 {
				v.node.setStamp(o.Stamp)
			}
			v.mu.Unlock()
		}
	})
	return nil
}

// filled calls f, and unlocks the variables unless it went through.
func filled(vars []*Variable, bufs []*tensor.Tensor, f func([]*tensor.Tensor) error) error {
	done := false
	defer func() {
		if !done {
			unlockAll(vars)
		}
	}()
	err := f(bufs)
	done = err == nil
	return err
}

// outlives reports whether v keeps its value: o's restore comes late (Unwritten), and a later
// restore has set v since.
func (v *Variable) outlives(o *restoring.Options) bool {
	return o.Unwritten && o.Stamp != 0 && v.node.currentStamp() > o.Stamp
}

// restorable returns the storage for a value of that shape that is to be restored. The
// lock is held.
func (v *Variable) restorable(shape tensor.Shape, o *restoring.Options) (*tensor.Tensor, error) {
	c := v.cell.Load()
	if c == nil {
		return nil, fmt.Errorf("trackable: variable %q has no value, so its type isn't known", v.shown())
	}
	if v.outlives(o) {
		return tensor.Zeros(c.t.DType(), shape...)
	}
	if o.Unwritten && v.written {
		return nil, fmt.Errorf("trackable: variable %q: %w", v.shown(), ErrWritten)
	}
	fits := c.t.Shape().Equal(shape)
	if !fits || v.fits.Load() != nil {
		if err := v.Accepts(c.t.DType(), shape); err != nil {
			return nil, fmt.Errorf("trackable: variable %q: %w", v.shown(), err)
		}
	}
	if fits && !c.shared() {
		c.updates++
		return c.t, nil
	}
	return tensor.Zeros(c.t.DType(), shape...)
}
