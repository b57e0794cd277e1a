package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Iterator yields the elements of a dataset one at a time. A checkpoint stores its
// place, as counts of elements; doc.go has the encoding. A field of a checkpointed
// struct is saved and restored with it, as in internal/demo:
//
//	type Training struct {
//		Net  *Net
//		Data *dataset.Iterator[Example] // edge "data"
//	}
//
// It may be used from several goroutines, each element going to one of them.
type Iterator[T any] struct {
	mu       sync.Mutex
	cursor   cursor[T]
	seed     uint64 // of the iteration, for shuffles without a seed
	dataset  *Dataset[T]
	restored []byte // the encoded place of a restore until the first Next moves there, otherwise nil
}

var _ trackable.Serializer = (*Iterator[int])(nil)

// Iterator returns a new iterator at the dataset's start. Every Next returns the error
// of a faulty dataset.
func (d *Dataset[T]) Iterator() *Iterator[T] {
	it := &Iterator[T]{dataset: d}
	it.begin()
	return it
}

// begin puts the place at the start of a new iteration.
func (it *Iterator[T]) begin() {
	if it.dataset.err == nil {
		p := it.dataset.firstPass()
		it.cursor, it.seed, it.restored = it.dataset.open(p), p.seed, nil
	}
}

// Next returns the next element and moves the place on. At the end the error is
// io.EOF.
//
// After a restore the first Next moves to the restored place, which may read
// the source again up to there; it fails with [ErrState] if the place isn't
// in this dataset.
//
// Elements are taken outside of traced functions, which get them as arguments:
// while one is traced, Next returns [trackable.ErrInTrace].
func (it *Iterator[T]) Next(ctx context.Context) (T, error) {
	var zero T
	if err := notInTrace("Next"); err != nil {
		return zero, err
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.dataset.err != nil {
		return zero, it.dataset.err
	}
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if it.restored != nil {
		d := decoder{buf: it.restored}
		seed := d.uint()
		if d.err != nil {
			return zero, d.err
		}
		fresh := it.dataset.open(pass{seed: seed})
		err := fresh.load(ctx, &d)
		if err == nil {
			err = d.end()
		}
		if err != nil {
			return zero, err
		}
		it.cursor, it.seed, it.restored = fresh, seed, nil
	}
	return it.cursor.next(ctx)
}

// All iterates from the place to the end and moves it. If a loop is left early,
// the next call of All continues with the next element.
func (it *Iterator[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yieldAll(ctx, it.Next, yield) }
}

// notInTrace returns an error if the caller is a function that is being traced.
func notInTrace(what string) error {
	if site, ok := callers.InTrace(); ok {
		return fmt.Errorf("%s: dataset: %s %w; take elements outside of the function, and pass them as arguments", site, what, trackable.ErrInTrace)
	}
	return nil
}

// Reset puts the place at the dataset's start. While a function is traced it
// panics, since it returns no error.
func (it *Iterator[T]) Reset() {
	if err := notInTrace("Reset"); err != nil {
		panic(err)
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	it.begin()
}

// SerializeToTensors returns the place, for the checkpoint.
func (it *Iterator[T]) SerializeToTensors() ([]trackable.Attribute, error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.dataset.err != nil {
		return nil, it.dataset.err
	}
	var e encoder
	e.buf = append(e.buf, magic...)
	e.string(it.dataset.pipeline)
	if it.restored != nil {
		e.buf = append(e.buf, it.restored...)
	} else {
		e.uint(it.seed)
		it.cursor.save(&e)
	}
	return []trackable.Attribute{{Name: StateAttribute, Tensor: tensor.Scalar(string(e.buf))}}, nil
}

// CheckRestore reports whether the checkpoint's place is one of this pipeline,
// before a restore changes anything.
func (it *Iterator[T]) CheckRestore(tensors map[string]*tensor.Tensor) error {
	it.mu.Lock()
	defer it.mu.Unlock()
	_, err := it.place(tensors)
	return err
}

// RestoreFromTensors takes a place from the checkpoint. It refuses one of
// another pipeline. The next call of [Iterator.Next] moves there.
func (it *Iterator[T]) RestoreFromTensors(tensors map[string]*tensor.Tensor) error {
	it.mu.Lock()
	defer it.mu.Unlock()
	place, err := it.place(tensors)
	if err == nil {
		it.restored = place
	}
	return err
}

// place returns the encoded place, without the pipeline's text. The lock is
// held.
func (it *Iterator[T]) place(tensors map[string]*tensor.Tensor) ([]byte, error) {
	if it.dataset.err != nil {
		return nil, it.dataset.err
	}
	t := tensors[StateAttribute]
	if t == nil {
		return nil, fmt.Errorf("dataset: the checkpoint has no %s for this iterator: %w", StateAttribute, ErrState)
	}
	s, err := tensor.Item[string](t)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", StateAttribute, errors.Join(err, ErrState))
	}
	if len(s) < len(magic) || s[:len(magic)] != magic {
		return nil, fmt.Errorf("dataset: %s doesn't begin with %q, so it isn't a place that this version of Cairn reads: %w", StateAttribute, magic, ErrState)
	}
	d := decoder{buf: []byte(s[len(magic):])}
	pipeline := string(d.bytes())
	if d.err != nil {
		return nil, d.err
	}
	if pipeline != it.dataset.pipeline {
		return nil, fmt.Errorf("dataset: the saved place is in %s, this iterator's dataset is %s; RestoreOptions.SkipIterators leaves iterators where they are: %w", pipeline, it.dataset.pipeline, ErrState)
	}
	return append([]byte{}, d.buf...), nil
}
