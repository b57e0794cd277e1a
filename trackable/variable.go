package trackable

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/tensor"
)

// Variable is a tensor that changes: TensorFlow's tf.Variable, storage without
// ops. It is safe for use from many goroutines.
//
// Readers never see a half-written value, and a value they hold never changes:
// [Variable.Load] marks the storage as shared, and the next [Variable.Update]
// works on a copy. Storage without other references is updated in place.
//
// The methods that read or change the value are for code outside of traced
// functions. Inside one they would run only once, so they fail with
// [ErrInTrace]: Load and Borrow panic with it, and the trace returns it.
//
// The zero Variable has no value; [NewVariable] returns one that has, and
// [Variable.Init] sets the initial value of an embedded Variable:
//
//	type Part struct{ trackable.Variable }
//
// A struct that embeds a Variable is a variable itself: one node, whose object
// is the struct.
type Variable struct {
	// The fields that restores and saves read come first, in one line of the
	// processor's cache, because there may be very many variables.
	mu sync.Mutex
	// The value and the shapes it may have change with the lock held. Type and shape are
	// asked for without it: to take a lock keeps the processor from looking at the next
	// variable before this one has come from memory.
	cell atomic.Pointer[cell]
	fits atomic.Pointer[shapes] // nil: the value's own shape
	id   atomic.Uint64          // order of making; locks on several variables are taken in it
	// Whether the value was changed since the variable was made or restored: then
	// a late delivery must not overwrite it.
	written   bool
	untrained bool
	nameKind  nameKind
	node      Node

	name   string
	nameOf *Variable // of nameDerived
	fault  atomic.Pointer[error]
	traits *VariableTraits

	_ [16]byte // so that the first fields are in one line wherever the allocator places v
}

// shapes are the shapes that a variable accepts, if others than its value's. A value of this
// type never changes.
type shapes struct {
	unranked bool         // any shape
	like     tensor.Shape // if it isn't unranked: the shapes that it accepts
}

// cell is one buffer of a variable and who holds it.
type cell struct {
	t       *tensor.Tensor // stays the same
	refs    atomic.Int32   // outstanding Borrows
	updates uint64         // how often it was handed out to be written
}

// shared reports whether others hold the buffer, for a while or for good.
func (c *cell) shared() bool { return c.t.Shared() || c.refs.Load() > 0 }

type nameKind uint8

const (
	nameUnset    nameKind = iota // "Variable", as TensorFlow names tf.Variable(1)
	nameRelative                 // below the scopes on the first path
	nameAbsolute
	nameDerived // a prefix and another variable's full name
)

var variableIDs atomic.Uint64 // how many variables there are so far

// NewVariable returns a trainable variable with the initial value t. It takes
// ownership of the tensor: the caller must not write to it any more. A shared tensor
// ([tensor.Tensor.Shared]), such as the result of [Variable.Load], isn't changed:
// the first update works on a copy. A nil t makes a variable without a value, which
// can't be saved.
func NewVariable(t *tensor.Tensor) *Variable {
	v := new(Variable)
	v.Init(t)
	return v
}

// Init sets the initial value of v, takes ownership of it, and returns v. It is
// for structs that embed a Variable; on a variable that has a value it replaces
// value, type and shape.
func (v *Variable) Init(t *tensor.Tensor) *Variable {
	if v.DType() != tensor.Invalid {
		v.mustBeOutside("a second Init", writeInstead)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.number()
	v.written = false
	if t == nil {
		v.cell.Store(nil)
	} else {
		v.cell.Store(&cell{t: t})
	}
	return v
}

// isWritten reports whether the value was changed since the variable was created
// or restored. Initial values, which Init sets, don't count.
func (v *Variable) isWritten() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.written
}

// setFault makes ops that use v fail with err; nil removes the error. It is set if a
// restore couldn't set v to its value.
func (v *Variable) setFault(err error) {
	if err == nil {
		v.fault.Store(nil)
	} else {
		v.fault.Store(&err)
	}
}

// currentFault returns why v must not be used, nil if it may be.
func (v *Variable) currentFault() error {
	if p := v.fault.Load(); p != nil {
		return *p
	}
	return nil
}

// made returns the variable's number in the order of making, from 1 on.
func (v *Variable) made() uint64 { return v.id.Load() }

// number returns v's number, which it gets now unless it has one. The lock is
// held.
func (v *Variable) number() uint64 {
	if v.id.Load() == 0 {
		v.id.Store(variableIDs.Add(1))
	}
	return v.id.Load()
}

// markRestored records that the value is a restored checkpoint's, so that v
// doesn't count as written. It is for restores that store values by themselves,
// as registered savers do.
func (v *Variable) markRestored() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written = false
}

// AsVariable returns v. Structs that embed a Variable inherit it, and so are
// known as variables.
func (v *Variable) AsVariable() *Variable { return v }

// TrackableNode returns v's state in the object graph.
func (v *Variable) TrackableNode() *Node { return &v.node }

// Named sets the variable's full name and returns v. It is TensorFlow's Variable.name; a suffix after a colon, the
// ":0", isn't part of it and is removed. Checkpoints contain full names besides the keys; TF1's name-based checkpoints
// are matched by them. Default: "Variable", as in TensorFlow. A variable created by [Base.AddVariable] is named after
// its scopes, see [Scoped].
func (v *Variable) Named(full string) *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.name, _, _ = strings.Cut(full, ":")
	v.nameKind = nameAbsolute
	return v
}

// NamedAfter makes v's full name that of another variable after a prefix, and
// returns v: "Adam/m/" and a variable "dense/kernel" produce
// "Adam/m/dense/kernel", wherever the other one is later in the graph.
func (v *Variable) NamedAfter(prefix string, of *Variable) *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.name, v.nameKind, v.nameOf = prefix, nameDerived, of
	return v
}

func (v *Variable) derivedName() (prefix string, of *Variable) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.name, v.nameOf
}

func (v *Variable) namedBelow(part string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.name, v.nameKind = part, nameRelative
}

// Name returns the full name that was set with [Variable.Named], or the part of
// it that [Base.AddVariable] knows; the scopes before it are known to a walk of
// the whole graph only ([GraphNode].FullName).
func (v *Variable) Name() string {
	name, kind := v.nameAndKind()
	if kind == nameDerived {
		_, of := v.derivedName()
		return name + of.Name()
	}
	return name
}

func (v *Variable) nameAndKind() (string, nameKind) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.nameKind == nameUnset {
		return "Variable", nameUnset
	}
	return v.name, v.nameKind
}

// shown returns the name for an error, "Variable" if there is none. The caller
// holds the lock.
func (v *Variable) shown() string {
	if v.name == "" {
		return "Variable"
	}
	return v.name
}

// String returns the name, the type and the shape, not the value:
//
//	Variable dense/kernel: float32[3,4]
func (v *Variable) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	what := "without a value"
	if c := v.cell.Load(); c != nil {
		what = fmt.Sprintf("%v%v", c.t.DType(), c.t.Shape())
	}
	if v.name == "" {
		return "Variable: " + what
	}
	return fmt.Sprintf("Variable %s: %s", v.name, what)
}

// SetTrainable sets whether optimizers change the variable. Default: true.
func (v *Variable) SetTrainable(on bool) *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.untrained = !on
	return v
}

// Trainable reports whether optimizers change the variable.
func (v *Variable) Trainable() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.untrained
}

// DType returns the type of the elements, [tensor.Invalid] if there is no
// value.
func (v *Variable) DType() tensor.DType {
	c := v.cell.Load()
	if c == nil {
		return tensor.Invalid
	}
	return c.t.DType()
}

// Shape returns the value's shape; nil if there is no value. In a function that is
// being traced it is the common shape of the values of all calls: -1 for a size that
// may change, nil if even the number of dimensions may. The caller must not change
// it.
func (v *Variable) Shape() tensor.Shape {
	c := v.cell.Load()
	if c == nil {
		return nil
	}
	if fits := v.fits.Load(); fits != nil {
		if _, ok := callers.InTrace(); ok {
			return fits.like
		}
	}
	return c.t.Shape()
}

// SetShape lets the variable take values of any shape that s accepts (-1 is any
// size), as tf.Variable(shape=…) does. Default, and for nil: only the present
// value's shape.
func (v *Variable) SetShape(s tensor.Shape) *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s == nil {
		v.fits.Store(nil)
	} else {
		v.fits.Store(&shapes{like: s.Clone()})
	}
	return v
}

// SetUnranked lets the variable take values of any shape, of any rank, as
// tf.Variable(shape=tf.TensorShape(None)) does; a SetShape ends that.
func (v *Variable) SetUnranked() *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fits.Store(&shapes{unranked: true})
	return v
}

// Unranked reports whether v takes values of any shape.
func (v *Variable) Unranked() bool {
	fits := v.fits.Load()
	return fits != nil && fits.unranked
}

// ValueShape returns the shape of v's values, with -1 for a size that may change; nil
// if there is no value. For a variable that is [Variable.Unranked] it is the shape of
// the present value. The caller must not change it.
func (v *Variable) ValueShape() tensor.Shape {
	c, fits := v.cell.Load(), v.fits.Load()
	switch {
	case fits != nil && !fits.unranked:
		return fits.like
	case c == nil:
		return nil
	}
	return c.t.Shape()
}

// Accepts returns nil if v can hold a value of this type and shape, and
// otherwise the error that Store would return, without the variable's name.
func (v *Variable) Accepts(d tensor.DType, s tensor.Shape) error {
	_, err := v.takes(d, s)
	return err
}

// takes works like Accepts, and also reports whether v has a value.
func (v *Variable) takes(d tensor.DType, s tensor.Shape) (valued bool, err error) {
	c := v.cell.Load()
	if c == nil {
		return false, nil
	}
	dtype, shape, fits := c.t.DType(), c.t.Shape(), v.fits.Load()
	switch {
	case dtype != d:
		return true, &ShapeError{WantDType: dtype, WantShape: shape, GotDType: d, GotShape: s}
	case fits == nil && !shape.Equal(s):
		return true, &ShapeError{WantDType: d, WantShape: shape, GotDType: d, GotShape: s}
	case fits != nil && !fits.unranked && !fits.like.Accepts(s):
		return true, &ShapeError{WantDType: d, WantShape: fits.like, GotDType: d, GotShape: s}
	}
	return true, nil
}

// Load returns the present value. It never changes: the storage counts as
// shared from then on, so that the next change of v is made on a copy. If the
// value is needed only briefly, [Variable.Borrow] avoids that copy. It is nil
// for a variable without a value.
func (v *Variable) Load() *tensor.Tensor {
	v.mustBeOutside("Load", readInstead)
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.cell.Load()
	if c == nil {
		return nil
	}
	return c.t.Share()
}

// Borrow returns the value now, for use until release is called. A change of v
// in the meantime is made on a copy; after release the storage can be updated
// in place again. Calling release twice does nothing. Without a value the
// tensor is nil.
func (v *Variable) Borrow() (t *tensor.Tensor, release func()) {
	v.mustBeOutside("Borrow", readInstead)
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.cell.Load()
	if c == nil {
		return nil, func() {}
	}
	c.refs.Add(1)
	var once atomic.Bool
	return c.t, func() {
		if once.CompareAndSwap(false, true) {
			c.refs.Add(-1)
		}
	}
}

// Lease is a short-lived read of a variable, like that of [Variable.Borrow], for callers
// that keep many, such as package engine. The zero Lease holds nothing.
type Lease struct{ cell *cell }

// Lease returns the value now, for use until the lease is released, at the
// latest by the end of the step. Without a value the tensor is nil and nothing
// is held.
func (v *Variable) Lease() (*tensor.Tensor, Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.cell.Load()
	if c == nil {
		return nil, Lease{}
	}
	c.refs.Add(1)
	return c.t, Lease{c}
}

// Held reports whether the lease holds a value.
func (l Lease) Held() bool { return l.cell != nil }

// Pin declares the held value as shared, so that its storage is never written again. The
// lease still has to be released.
func (l Lease) Pin() {
	if l.cell != nil {
		l.cell.t.Share()
	}
}

// Release ends the lease; a second call does nothing.
func (l *Lease) Release() {
	if l.cell != nil {
		l.cell.refs.Add(-1)
		l.cell = nil
	}
}

// Store replaces the value by t, which is handed over. Another type, or a shape
// that v doesn't take, is a *[ShapeError].
func (v *Variable) Store(t *tensor.Tensor) error { return v.store(t, false) }

// store replaces the value by t, whose storage is marked as shared first if shared is set.
func (v *Variable) store(t *tensor.Tensor, shared bool) error {
	if err := v.refuse("Store", writeInstead); err != nil {
		return err
	}
	if t == nil {
		return fmt.Errorf("trackable: Store of no tensor into variable %q", v.Name())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.Accepts(t.DType(), t.Shape()); err != nil {
		return fmt.Errorf("trackable: variable %q: %w", v.shown(), err)
	}
	v.number()
	if shared {
		t.Share()
	}
	v.cell.Store(&cell{t: t})
	v.written = true
	return nil
}

// StoreShared works like [Variable.Store], for a tensor that others keep reading:
// it is never written, the first update works on a copy.
func (v *Variable) StoreShared(t *tensor.Tensor) error { return v.store(t, true) }

// Update changes the value: f gets the storage to work on, in place if there is
// no other reference, otherwise a copy. Its contents after f are the new value,
// even if f returns an error. f must not use v, and must not update another
// variable: use [UpdateAll] for that.
func (v *Variable) Update(f func(buf *tensor.Tensor) error) error {
	if err := v.refuse("Update", writeInstead); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	buf, err := v.writable()
	if err != nil {
		return err
	}
	return f(buf)
}

// writable returns the storage, made v's own first. The lock is held.
func (v *Variable) writable() (*tensor.Tensor, error) {
	c := v.cell.Load()
	if c == nil {
		return nil, v.errNoValue()
	}
	if c.shared() {
		c = &cell{t: c.t.Clone()}
		v.cell.Store(c)
	}
	c.updates++
	v.written = true
	return c.t, nil
}

func (v *Variable) errNoValue() error {
	return fmt.Errorf("trackable: variable %q has no value to update; call Init", v.shown())
}

// UpdateAll works like [Variable.Update], for several variables at once, as a
// fused optimizer step needs it: bufs[i] is the storage of vars[i]. The
// variables are locked in one order everywhere, so that no two calls can block
// each other. The same variable twice is an error.
func UpdateAll(vars []*Variable, f func(bufs []*tensor.Tensor) error) error {
	for _, v := range vars[:min(1, len(vars))] {
		if err := v.refuse("UpdateAll", writeInstead); err != nil {
			return err
		}
	}
	if err := lockAll(vars, func(int, int) error { return nil }); err != nil {
		return err
	}
	defer unlockAll(vars)
	for _, v := range vars { // before one of them counts as written
		if v.cell.Load() == nil {
			return v.errNoValue()
		}
	}
	bufs := make([]*tensor.Tensor, len(vars))
	for i, v := range vars {
		var err error
		if bufs[i], err = v.writable(); err != nil {
			return err
		}
	}
	return f(bufs)
}

// ShapeError reports that a variable can't hold a value because of its type or
// shape.
type ShapeError struct {
	WantDType, GotDType tensor.DType
	WantShape, GotShape tensor.Shape
}

// Error names both types and shapes.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("holds %v%v, the value is %v%v", e.WantDType, e.WantShape, e.GotDType, e.GotShape)
}
