package elementwise

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Binary ops over whole tensors: the loops run over rows, by the way in which
// the inputs broadcast.

// Loops are the three loops of a binary op. VV takes two vectors, VS a vector
// and a scalar, SV a scalar and a vector. For one element all three must
// compute the same bits, because the shapes decide which one runs.
type Loops[T, R tensor.Element] struct {
	VV func(dst []R, a, b []T)
	VS func(dst []R, a []T, b T)
	SV func(dst []R, a T, b []T)

	in, out tensor.DType
}

// Binary makes a Func of loops. ns is the approximate cost of an element, in
// nanoseconds.
func Binary[T, R tensor.Element](vv func(dst []R, a, b []T), vs func(dst []R, a []T, b T), sv func(dst []R, a T, b []T), ns float64) Func {
	l := Loops[T, R]{vv, vs, sv, tensor.TypeOf[T](), tensor.TypeOf[R]()}
	return func(c *engine.Call) error { return l.run(c, ns) }
}

// Same checks that a call has two inputs of one type.
func Same(c *engine.Call) error {
	if c.NumIn() != 2 || c.In(0) == nil || c.In(1) == nil {
		return c.Need(2)
	}
	if a, b := c.In(0).DType(), c.In(1).DType(); a != b {
		return fmt.Errorf("the inputs' types differ: %v and %v; Cast converts", a, b)
	}
	return nil
}

func (l *Loops[T, R]) run(c *engine.Call, ns float64) error {
	if err := Same(c); err != nil {
		return err
	}
	a, b, d := c.In(0), c.In(1), l.out
	as, bs := a.Shape(), b.Shape()
	if as.Equal(bs) {
		out, err := c.AllocOver(0, 0, d, as)
		if err != nil {
			return err
		}
		dst, x, y := elements[R](out, l.out), elements[T](a, l.in), elements[T](b, l.in)
		if !c.Large(len(dst), ns) {
			l.VV(dst, x, y)
			return nil
		}
		c.Parallel(len(dst), ns, func(lo, hi int) { l.VV(dst[lo:hi], x[lo:hi], y[lo:hi]) })
		return nil
	}
	if b.Len() > 1 {
		if n, step := rowsOver(as, bs); n > 1 {
			return l.runRows(c, ns, n, step)
		}
	}
	dims, err := shape.Broadcast(as, bs)
	if err != nil {
		return err
	}
	out, err := c.AllocOver(0, 0, d, dims)
	if err != nil {
		return err
	}
	dst, x, y := elements[R](out, l.out), elements[T](a, l.in), elements[T](b, l.in)
	switch {
	case len(dst) == 0:
	case len(y) == 1:
		if !c.Large(len(dst), ns) {
			l.VS(dst, x, y[0])
			return nil
		}
		c.Parallel(len(dst), ns, func(lo, hi int) { l.VS(dst[lo:hi], x[lo:hi], y[0]) })
	case len(x) == 1:
		if !c.Large(len(dst), ns) {
			l.SV(dst, x[0], y)
			return nil
		}
		c.Parallel(len(dst), ns, func(lo, hi int) { l.SV(dst[lo:hi], x[0], y[lo:hi]) })
	default:
		p := NewBroadcast(dims, as, bs)
		if !c.Large(len(dst), ns) {
			l.rows(p, dst, x, y, 0, p.Rows)
			return nil
		}
		c.Parallel(p.Rows, ns*float64(p.Inner), func(lo, hi int) { l.rows(p, dst, x, y, lo, hi) })
	}
	return nil
}

// rowsOver cuts a tensor of shape a into rows of n elements. With step 1, each row
// meets all elements of a tensor of shape b: b is the end of a, after ones. With step
// 0, it meets one of them: b is the beginning of a, before ones. n is 0 for other
// shapes.
func rowsOver(a, b tensor.Shape) (n, step int) {
	if len(b) > len(a) || len(a) == 0 {
		return 0, 0
	}
	// Dimensions that are equal, from the end and from the beginning.
	same := 0
	for same < len(b) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	inner, whole := 1, true
	for _, d := range b[:len(b)-same] {
		whole = whole && d == 1
	}
	if whole && same > 0 {
		for _, d := range a[len(a)-same:] {
			inner *= d
		}
		return inner, 1
	}
	if len(b) != len(a) {
		return 0, 0
	}
	at := 0
	for at < len(b) && a[at] == b[at] {
		at++
	}
	for i, d := range b[at:] {
		if d != 1 {
			return 0, 0
		}
		inner *= a[at+i]
	}
	return inner, 0
}

// runRows runs the loops over rows of n elements of input 0, see [rowsOver].
func (l *Loops[T, R]) runRows(c *engine.Call, ns float64, n, step int) error {
	out, err := c.AllocOver(0, 0, l.out, c.In(0).Shape())
	if err != nil {
		return err
	}
	dst, x, y := elements[R](out, l.out), elements[T](c.In(0), l.in), elements[T](c.In(1), l.in)
	if !c.Large(len(dst), ns) {
		l.over(dst, x, y, n, step)
		return nil
	}
	c.Parallel(len(dst)/n, ns*float64(n), func(lo, hi int) { l.over(dst[lo*n:hi*n], x[lo*n:hi*n], y[lo*(1-step):], n, step) })
	return nil
}

// over runs the loops over rows of n elements.
func (l *Loops[T, R]) over(dst []R, x, y []T, n, step int) {
	for i := 0; len(dst) > 0; i++ {
		if step == 1 {
			l.VV(dst[:n], x[:n], y)
		} else {
			l.VS(dst[:n], x[:n], y[i])
		}
		dst, x = dst[n:], x[n:]
	}
}

// rows runs rows lo to hi of a broadcast.
func (l *Loops[T, R]) rows(p *Broadcast, dst []R, x, y []T, lo, hi int) {
	it := p.At(lo)
	n := p.Inner
	for row := lo; row < hi; row++ {
		d, i, j := dst[row*n:row*n+n], it.A, it.B
		switch {
		case p.StepA == 0 && p.StepB == 0:
			l.VS(d[:1], x[i:i+1], y[j])
			for k := 1; k < n; k++ {
				d[k] = d[0]
			}
		case p.StepA == 0:
			l.SV(d, x[i], y[j:j+n])
		case p.StepB == 0:
			l.VS(d, x[i:i+n], y[j])
		default:
			l.VV(d, x[i:i+n], y[j:j+n])
		}
		it.Next(p)
	}
}

// Broadcast walks two tensors that are broadcast to one shape, row by row.
// Dimensions along which both have a fixed stride are joined; the last one is a
// row.
type Broadcast struct {
	Rows, Inner  int
	StepA, StepB int // within a row: 0 or 1
	dims         []broadcastDim
}

type broadcastDim struct{ n, a, b int }

// NewBroadcast returns the walk over inputs of shapes a and b that broadcast to s.
func NewBroadcast(s, a, b tensor.Shape) *Broadcast {
	sa, sb := shapes.BroadcastStrides(a, s), shapes.BroadcastStrides(b, s)
	p := &Broadcast{Rows: 1, Inner: 1}
	dims := make([]broadcastDim, 0, len(s))
	for i, n := range s {
		if n == 1 {
			continue
		}
		d := broadcastDim{n, sa[i], sb[i]}
		if k := len(dims) - 1; k >= 0 && dims[k].a == d.a*n && dims[k].b == d.b*n {
			dims[k] = broadcastDim{dims[k].n * n, d.a, d.b}
			continue
		}
		dims = append(dims, d)
	}
	if k := len(dims) - 1; k >= 0 {
		p.Inner, p.StepA, p.StepB = dims[k].n, dims[k].a, dims[k].b
		p.dims = dims[:k]
	}
	for _, d := range p.dims {
		p.Rows *= d.n
	}
	return p
}

// Place has the offsets of a row in both inputs.
type Place struct {
	A, B int
	at   [8]int // the row's index in each of the first dimensions of dims
	more []int  // and in the others, so that few dimensions need no allocation
}

func (pl *Place) index(i int) *int {
	if i < len(pl.at) {
		return &pl.at[i]
	}
	return &pl.more[i-len(pl.at)]
}

// At returns the place of a row.
func (p *Broadcast) At(row int) Place {
	var pl Place
	if n := len(p.dims) - len(pl.at); n > 0 {
		pl.more = make([]int, n)
	}
	for i := len(p.dims) - 1; i >= 0; i-- {
		d := p.dims[i]
		k := row % d.n
		row /= d.n
		*pl.index(i) = k
		pl.A += k * d.a
		pl.B += k * d.b
	}
	return pl
}

// Next moves to the next row.
func (pl *Place) Next(p *Broadcast) {
	for i := len(p.dims) - 1; i >= 0; i-- {
		d := &p.dims[i]
		k := pl.index(i)
		*k++
		pl.A += d.a
		pl.B += d.b
		if *k < d.n {
			return
		}
		pl.A -= d.n * d.a
		pl.B -= d.n * d.b
		*k = 0
	}
}

// halfNs is the approximate cost of the conversions of an element, in nanoseconds.
const halfNs = 6

// BinaryHalf makes a Func over halves of loops over float32; each result is
// rounded once.
func BinaryHalf[H Half](vv func(dst, a, b []float32), vs func(dst, a []float32, b float32), sv func(dst []float32, a float32, b []float32), ns float64) Func {
	return Binary(
		func(dst, a, b []H) {
			var x, y, z [block]float32
			for lo := 0; lo < len(dst); lo += block {
				n := min(block, len(dst)-lo)
				Widen(x[:n], a[lo:lo+n])
				Widen(y[:n], b[lo:lo+n])
				vv(z[:n], x[:n], y[:n])
				Narrow(dst[lo:lo+n], z[:n])
			}
		},
		func(dst, a []H, b H) {
			var x, z [block]float32
			for lo := 0; lo < len(dst); lo += block {
				n := min(block, len(dst)-lo)
				Widen(x[:n], a[lo:lo+n])
				vs(z[:n], x[:n], widen(b))
				Narrow(dst[lo:lo+n], z[:n])
			}
		},
		func(dst []H, a H, b []H) {
			var y, z [block]float32
			for lo := 0; lo < len(dst); lo += block {
				n := min(block, len(dst)-lo)
				Widen(y[:n], b[lo:lo+n])
				sv(z[:n], widen(a), y[:n])
				Narrow(dst[lo:lo+n], z[:n])
			}
		}, ns+halfNs)
}

// BinaryHalfBool makes a Func as BinaryHalf does, for comparisons.
func BinaryHalfBool[H Half](vv func(dst []bool, a, b []float32), ns float64) Func {
	one := func(dst []bool, a, b []H) {
		var x, y [block]float32
		for lo := 0; lo < len(dst); lo += block {
			n := min(block, len(dst)-lo)
			Widen(x[:n], a[lo:lo+n])
			Widen(y[:n], b[lo:lo+n])
			vv(dst[lo:lo+n], x[:n], y[:n])
		}
	}
	return Binary(one,
		func(dst []bool, a []H, b H) {
			var x, y [block]float32
			repeat(y[:min(block, len(dst))], widen(b))
			for lo := 0; lo < len(dst); lo += block {
				n := min(block, len(dst)-lo)
				Widen(x[:n], a[lo:lo+n])
				vv(dst[lo:lo+n], x[:n], y[:n])
			}
		},
		func(dst []bool, a H, b []H) {
			var x, y [block]float32
			repeat(x[:min(block, len(dst))], widen(a))
			for lo := 0; lo < len(dst); lo += block {
				n := min(block, len(dst)-lo)
				Widen(y[:n], b[lo:lo+n])
				vv(dst[lo:lo+n], x[:n], y[:n])
			}
		}, ns+halfNs)
}

// repeat sets all elements of dst to v.
func repeat(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

func widen[H Half](h H) float32 {
	switch h := any(h).(type) {
	case tensor.F16:
		return h.Float()
	case tensor.BF16:
		return h.Float()
	}
	return 0
}
