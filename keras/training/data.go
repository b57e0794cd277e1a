package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Data is the input of a [Trainer]: *[Examples], and the results of [Batches],
// [Sequence] and [Values].
type Data interface {
	// source returns the data as batches.
	source(ctx context.Context, o *sourceOptions) (source, error)
}

// sourceOptions determine how data becomes batches.
type sourceOptions struct {
	batchSize int // 0: the default
	steps     int // of a pass as the caller set it, 0 for unknown
	passes    int // the number of epochs
	shuffle   bool
	seed      *uint64 // of the shuffles; nil for another order in each run
}

// source is data as batches.
type source interface {
	// steps returns the number of batches in a pass. ok is false if it isn't known.
	steps() (n int, ok bool)
	// batchSize returns the number of examples in a batch, 0 if it isn't known.
	batchSize() int
	// restarts reports whether each epoch begins at the first batch.
	restarts() bool
	// open begins at the first batch. pass counts the times if the source restarts. next
	// returns io.EOF after the last batch; stop ends the iteration.
	open(ctx context.Context, pass int) (next func() (*element, error), stop func())
}

// element is a batch.
type element struct {
	x, y, weights []*ops.Value
	layouts       *layouts
}

// Examples are all examples that a model is trained with, or a batch of them. The first
// dimension of each tensor is that of the examples.
type Examples struct {
	// X are the inputs: a *tensor.Tensor, an *ops.Value or a slice of numbers, or a list or
	// a map of them.
	X any
	// Y are the truths, in one of these forms. Default: none.
	Y any
	// SampleWeight are the weights of the examples: a vector, or a tensor that can be
	// broadcast to the losses. A list or a map has those of each output. Default: ones.
	SampleWeight any
}

// rows are examples in memory. Their batches go over all passes without a restart, as
// tf_keras's TensorLikeDataAdapter does: the shuffler draws an order for each pass.
type rows struct {
	o             *sourceOptions
	n, size       int // the number of examples, and of those in a batch
	x, y, weights []table
	layouts       *layouts
}

// rows returns the tensors of the examples.
func (e *Examples) rows(ctx context.Context) (*rows, error) {
	if e == nil {
		return nil, errors.New("the Examples are nil")
	}
	r := &rows{layouts: new(layouts)}
	var err error
	if r.x, r.layouts.x, err = tablesOf(ctx, e.X); err != nil {
		return nil, fmt.Errorf("the examples' X: %w", err)
	}
	if r.y, r.layouts.y, err = tablesOf(ctx, e.Y); err != nil {
		return nil, fmt.Errorf("the examples' Y: %w", err)
	}
	if r.weights, r.layouts.weights, err = tablesOf(ctx, e.SampleWeight); err != nil {
		return nil, fmt.Errorf("SampleWeight: %w", err)
	}
	if len(r.x) == 0 {
		return nil, errors.New("the Examples have no X")
	}
	r.n = -1
	for _, list := range []struct {
		name   string
		tables []table
	}{{"X", r.x}, {"Y", r.y}, {"SampleWeight", r.weights}} {
		for _, t := range list.tables {
			d, isDense := t.(dense)
			switch {
			case !isDense && list.name != "X":
				return nil, fmt.Errorf("%s has a sparse or a ragged tensor, want dense ones; keras.ToDense converts it", list.name)
			case isDense && d.Rank() == 0:
				return nil, fmt.Errorf("%s has a scalar, want a first dimension for the examples", list.name)
			case r.n < 0:
				r.n = t.rows()
			case t.rows() != r.n:
				return nil, fmt.Errorf("%s has %d examples, want %d as X", list.name, t.rows(), r.n)
			}
		}
	}
	if r.n == 0 {
		return nil, errors.New("there are no examples")
	}
	return r, nil
}

func (e *Examples) source(ctx context.Context, o *sourceOptions) (source, error) {
	r, err := e.rows(ctx)
	if err != nil {
		return nil, err
	}
	return r.source(ctx, o)
}

func (r *rows) source(_ context.Context, o *sourceOptions) (source, error) {
	out := *r
	out.o = o
	switch out.size = o.batchSize; {
	case out.size > 0:
	case o.steps > 0:
		out.size = (r.n + o.steps - 1) / o.steps
	default:
		out.size = 32
	}
	return &out, nil
}

// split returns the first examples, and the rest: the part of them that is validated with.
func (r *rows) split(part float64) (train, validation *rows, err error) {
	if !(part > 0 && part < 1) {
		return nil, nil, fmt.Errorf("ValidationSplit is %v, want more than 0 and less than 1", part)
	}
	at := int(math.Floor(float64(r.n) * (1 - part)))
	if at == 0 || at == r.n {
		return nil, nil, fmt.Errorf("%d examples can't be split at %v; add examples", r.n, part)
	}
	cut := func(lo, hi int) *rows {
		out := *r
		out.n = hi - lo
		for _, list := range []*[]table{&out.x, &out.y, &out.weights} {
			parts := make([]table, len(*list))
			for i, t := range *list {
				parts[i] = t.part(lo, hi)
			}
			*list = parts
		}
		return &out
	}
	return cut(0, at), cut(at, r.n), nil
}

func (r *rows) steps() (int, bool) { return (r.n + r.size - 1) / r.size, true }
func (r *rows) batchSize() int     { return r.size }
func (r *rows) restarts() bool     { return false }

func (r *rows) open(ctx context.Context, _ int) (next func() (*element, error), stop func()) {
	turn, at := 0, 0
	var order *shuffler
	if r.o.shuffle {
		order = newShuffler(r.o.seed)
	}
	var indices []int
	take := func(list []table, lo, hi int) []*ops.Value {
		out := make([]*ops.Value, 0, len(list))
		for _, t := range list {
			if indices == nil {
				t = t.part(lo, hi)
			} else {
				t = t.picked(indices[lo:hi])
			}
			for _, p := range t.parts() {
				out = append(out, ops.ValueOf(p))
			}
		}
		return out
	}
	return func() (*element, error) {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if at == r.n {
			turn, at = turn+1, 0
		}
		if turn >= r.o.passes {
			return nil, io.EOF
		}
		if at == 0 && order != nil {
			indices = order.next(r.n)
		}
		lo, hi := at, min(at+r.size, r.n)
		at = hi
		return &element{take(r.x, lo, hi), take(r.y, lo, hi), take(r.weights, lo, hi), r.layouts}, nil
	}, func() {}
}

// slice returns rows lo to hi of a tensor. They share its storage if they are aligned in it.
func slice(t *tensor.Tensor, lo, hi int) *tensor.Tensor {
	shape := t.Shape().Clone()
	n := shape[0]
	shape[0] = hi - lo
	if !t.DType().Fixed() {
		each := len(t.Strings()) / max(n, 1)
		return tensor.Must(tensor.FromStrings(t.DType(), t.Strings()[lo*each:hi*each:hi*each], shape...))
	}
	each := len(t.Bytes()) / max(n, 1)
	return tensor.Must(tensor.FromBytes(t.DType(), t.Bytes()[lo*each:hi*each:hi*each], shape...))
}

// gather returns the rows of a tensor with these indices, in a tensor with its own storage.
func gather(t *tensor.Tensor, indices []int) *tensor.Tensor {
	shape := t.Shape().Clone()
	n := shape[0]
	shape[0] = len(indices)
	out := tensor.Must(tensor.Zeros(t.DType(), shape...))
	if !t.DType().Fixed() {
		each := len(t.Strings()) / max(n, 1)
		for i, k := range indices {
			copy(out.Strings()[i*each:(i+1)*each], t.Strings()[k*each:])
		}
		return out
	}
	each := len(t.Bytes()) / max(n, 1)
	to, from := out.Bytes(), t.Bytes()
	for i, k := range indices {
		copy(to[i*each:(i+1)*each], from[k*each:])
	}
	return out
}

// stream is data that comes in batches.
type stream struct {
	all  func(ctx context.Context, pass int) iter.Seq2[*element, error]
	size int // the number of batches in a pass; -1: unknown, infinite: without an end
	err  error
	// The steps of an epoch that the caller set, 0 for none. Each epoch begins a pass unless
	// they differ from size.
	user int
}

func (d *stream) source(_ context.Context, o *sourceOptions) (source, error) {
	if d.err != nil {
		return nil, d.err
	}
	if o.batchSize > 0 {
		return nil, errors.New("BatchSize is set, and the data comes in batches; leave it out")
	}
	out := *d
	out.user = o.steps
	return &out, nil
}

func (d *stream) steps() (int, bool) { return max(d.size, 0), d.size >= 0 }
func (d *stream) batchSize() int     { return 0 }
func (d *stream) restarts() bool     { return d.user == 0 || d.size >= 0 && d.size == d.user }

func (d *stream) open(ctx context.Context, pass int) (next func() (*element, error), stop func()) {
	if d.restarts() {
		pass++ // tf_keras begins an iteration before that of the first epoch
	}
	pull, stop := iter.Pull2(d.all(ctx, pass))
	return func() (*element, error) {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		e, err, ok := pull()
		switch {
		case !ok:
			return nil, io.EOF
		case err != nil:
			return nil, err
		}
		return e, nil
	}, stop
}

// Batches returns the batches of a dataset as data. An element is an [Examples], a tensor or a
// structure of tensors with the inputs, or a struct whose exported fields are the inputs, the
// truths and the sample weights, in this order; the last two may be missing. Each epoch is a
// separate pass over the dataset, with the next order of its shuffles, unless the number of
// steps in an epoch is set.
//
//	type Example struct{ X, Y *tensor.Tensor }
//
//	training.Batches(dataset.FromSlices(Example{images, labels}).Batch(32, nil))
func Batches[T any](d *dataset.Dataset[T]) Data {
	if d == nil {
		return &stream{err: errors.New("the dataset is nil")}
	}
	out := &stream{size: -1, err: d.Err(), all: func(ctx context.Context, pass int) iter.Seq2[*element, error] {
		return elements(ctx, d.Epoch(pass).All(ctx))
	}}
	if n, ok := d.Len(); ok && n <= math.MaxInt32 {
		out.size = int(n)
	}
	if d.Infinite() {
		out.size = infinite
	}
	return out
}

// infinite is the size of data that never ends.
const infinite = -2

// Sequence returns the batches of a Go iterator as data; see [Batches] for the elements.
// The iterator is called for each epoch, and once if the number of steps in an epoch is
// given. The first error ends the training.
func Sequence[T any](seq iter.Seq2[T, error]) Data {
	if seq == nil {
		return &stream{err: errors.New("the sequence is nil")}
	}
	return &stream{size: -1, all: func(ctx context.Context, _ int) iter.Seq2[*element, error] { return elements(ctx, seq) }}
}

// Values returns the same as [Sequence], for an iterator without errors.
func Values[T any](seq iter.Seq[T]) Data {
	if seq == nil {
		return &stream{err: errors.New("the sequence is nil")}
	}
	return Sequence(func(yield func(T, error) bool) {
		for v := range seq {
			if !yield(v, nil) {
				return
			}
		}
	})
}

// elements returns batches in the form that steps take.
func elements[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[*element, error] {
	return func(yield func(*element, error) bool) {
		for v, err := range seq {
			var e *element
			if err == nil {
				e, err = elementOf(ctx, examplesOf(v))
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// examplesOf returns the parts of an element of a dataset.
func examplesOf(x any) *Examples {
	switch x := x.(type) {
	case Examples:
		return &x
	case *Examples:
		return x
	}
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Struct {
		return &Examples{X: x}
	}
	var parts []any
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			parts = append(parts, v.Field(i).Interface())
		}
	}
	switch e := new(Examples); len(parts) {
	case 3:
		e.X, e.Y, e.SampleWeight = parts[0], parts[1], parts[2]
		return e
	case 2:
		e.X, e.Y = parts[0], parts[1]
		return e
	case 1:
		e.X = parts[0]
		return e
	}
	return &Examples{X: x}
}

func elementOf(ctx context.Context, e *Examples) (*element, error) {
	if e == nil {
		return nil, errors.New("a batch is nil")
	}
	out := &element{layouts: new(layouts)}
	var err error
	if out.x, out.layouts.x, err = valuesOf(ctx, e.X); err != nil {
		return nil, fmt.Errorf("the inputs of a batch: %w", err)
	}
	if out.y, out.layouts.y, err = valuesOf(ctx, e.Y); err != nil {
		return nil, fmt.Errorf("the truths of a batch: %w", err)
	}
	if out.weights, out.layouts.weights, err = valuesOf(ctx, e.SampleWeight); err != nil {
		return nil, fmt.Errorf("the sample weights of a batch: %w", err)
	}
	if out.layouts.y.forms != nil || out.layouts.weights.forms != nil {
		return nil, errors.New("the truths or sample weights of a batch have a sparse or a ragged tensor, want dense ones; keras.ToDense converts it")
	}
	if len(out.x) == 0 {
		return nil, errors.New("a batch has no inputs")
	}
	return out, nil
}

// feed goes over data, epoch after epoch, as tf_keras's DataHandler does: the places where an
// iteration begins anew, and the warning if data ends early, are its. Fit, Evaluate and Predict use it.
type feed struct {
	src       source
	perEpoch  int // the steps of an epoch, -1 if they aren't known yet
	first     int // the step at which the next epoch begins
	next      func() (*element, error)
	stop      func()
	begun     bool // the next epoch's iteration has begun
	exhausted bool
}

// newFeed returns a feed. user is the caller's number of steps, 0 for none.
func newFeed(ctx context.Context, data Data, o *sourceOptions) (*feed, error) {
	if data == nil {
		return nil, errors.New("the data is nil")
	}
	src, err := data.source(ctx, o)
	if err != nil {
		return nil, err
	}
	f := &feed{src: src, perEpoch: -1}
	switch n, ok := src.steps(); {
	case o.steps > 0:
		f.perEpoch = o.steps
	case ok && n == 0:
		return nil, errors.New("the data is empty")
	case ok:
		f.perEpoch = n
	}
	if s, ok := src.(*stream); ok && s.size == infinite && o.steps == 0 {
		return nil, errors.New("the dataset never ends; set the number of steps in an epoch")
	}
	return f, nil
}

// begin begins an epoch. pass is its number in this iteration over the data, from 0.
func (f *feed) begin(ctx context.Context, pass int) {
	if f.next == nil || f.src.restarts() && !f.begun {
		f.close()
		f.next, f.stop = f.src.open(ctx, pass)
	}
	f.begun = false
}

func (f *feed) close() {
	if f.stop != nil {
		f.stop()
	}
	f.next, f.stop = nil, nil
}

// each calls do for each batch of an epoch, with its number. It ends when do returns true.
func (f *feed) each(run *callbacks.Run, do func(step int, e *element) (stop bool, err error)) error {
	step := f.first
	f.first = 0
	for f.perEpoch < 0 || step < f.perEpoch {
		e, err := f.next()
		if errors.Is(err, io.EOF) {
			if f.perEpoch < 0 {
				f.perEpoch = step
				return nil
			}
			f.exhausted = true
			run.Printf("WARNING: the data ended after %d of %d steps; the training ends here\n", step, f.perEpoch)
			return nil
		}
		if err != nil {
			return err
		}
		stop, err := do(step, e)
		if stop || err != nil {
			return err
		}
		step++
	}
	return nil
}
