package function_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// sized is a value of a random program: in the trace, and in each world, which assigns
// numbers to the unknown sizes.
type sized struct {
	name   string
	traced *ops.Value
	in     []*tensor.Tensor
	inner  bool // of a branch or a loop's body: seen, not used any more
}

// places returns the known part of the value's sizes and elements, with the actual ones
// in each world.
func (v sized) places() (known []graph.Elem, are [][]int64) {
	add := func(e graph.Elem, of func(t *tensor.Tensor) int64) {
		row := make([]int64, len(v.in))
		for w, t := range v.in {
			row[w] = of(t)
		}
		known, are = append(known, e), append(are, row)
	}
	f := v.traced.Fact()
	for i, d := range f.Shape.Dims() {
		add(graph.SizeElem(d), func(t *tensor.Tensor) int64 { return int64(t.Shape()[i]) })
	}
	if e, ok := f.Ints(); ok && f.DType == tensor.Int32 {
		for i, x := range e {
			add(x, func(t *tensor.Tensor) int64 { return int64(tensor.Values[int32](t)[i]) })
		}
	}
	return known, are
}

// sizes is a random program over tensors of unknown sizes.
type sizes struct {
	r      *rand.Rand
	trace  *ops.Scope
	values []sized
	log    []string
	call   *function.Func[[]*ops.Value, *ops.Value]
	seen   func(name string, v *ops.Value)
}

func newSizes(t *testing.T, r *rand.Rand, worlds int, size func(world int) int) *sizes {
	s, trace := ops.NewTrace(t.Context(), "sizes")
	p := &sizes{r: r, trace: s}
	p.call = function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value {
		return ops.Add(s, ops.Sin(s, in[0]), ops.Sum(s, in[1]))
	}, &function.Options{Mode: function.Traced})
	var pool [][]int // sizes that arguments share: the trace doesn't know it
	for k := range 4 {
		rank := r.IntN(4)
		v, dims := sized{name: fmt.Sprintf("x%d", k)}, make([][]int, worlds)
		for range rank {
			row := make([]int, worlds)
			for w := range row {
				row[w] = size(w)
			}
			if worlds == 1 && len(pool) > 0 && r.IntN(2) == 0 {
				row = pool[r.IntN(len(pool))]
			}
			pool = append(pool, row)
			for w, d := range row {
				dims[w] = append(dims[w], d)
			}
		}
		var err error
		if v.traced, err = trace.Arg(v.name, graph.Fact{DType: tensor.Float32, Shape: graph.OfRank(rank)}); err != nil {
			t.Fatal(err)
		}
		for _, d := range dims {
			v.in = append(v.in, tensor.Must(tensor.Zeros(tensor.Float32, d...)))
		}
		p.values = append(p.values, v)
	}
	return p
}

// pick returns the index of a value of a type, and of at least some rank; false if there is none.
func (p *sizes) pick(d tensor.DType, rank int) (int, bool) {
	var from []int
	for i, v := range p.values {
		if !v.inner && v.traced.DType() == d && v.traced.Fact().Shape.Rank() >= rank {
			from = append(from, i)
		}
	}
	if len(from) == 0 {
		return 0, false
	}
	return from[p.r.IntN(len(from))], true
}

// errRefused is a trace's error for a program that runs.
type errRefused struct{ error }

// do runs a step in every world and traces it. A step that can't run in a world leaves the program
// as it was.
func (p *sizes) do(name string, f func(s *ops.Scope, in []*ops.Value) []*ops.Value, args ...int) error {
	var made []sized
	noted := map[string]int{}
	worlds := len(p.values[0].in)
	for w := range worlds {
		s := function.Eager(context.Background())
		in := make([]*ops.Value, len(args))
		for i, a := range args {
			in[i] = ops.ValueOf(p.values[a].in[w])
		}
		var err error
		keep := func(i int, name string, v *ops.Value) {
			for len(made) <= i {
				made = append(made, sized{in: make([]*tensor.Tensor, worlds)})
			}
			t, e := v.Tensor()
			if e != nil {
				err = e
				return
			}
			made[i].name, made[i].in[w] = name, t.Clone()
		}
		inner := map[string]*ops.Value{}
		p.seen = func(name string, v *ops.Value) { inner[name] = v }
		out := f(s, in)
		if s.Err() != nil || err != nil {
			return nil
		}
		for i, v := range out {
			if n, _ := v.Shape().NumElements(); n > 1000 || len(v.Shape()) > 5 {
				return nil
			}
			keep(i, name, v)
		}
		for _, k := range sorted(inner) {
			v := inner[k]
			i, ok := noted[k]
			if !ok {
				i = max(len(made), len(out))
				noted[k] = i
			}
			keep(i, name+"/"+k, v)
			made[i].inner = true
		}
		if err != nil || s.Err() != nil {
			return nil
		}
	}
	in := make([]*ops.Value, len(args))
	var of []string
	for i, a := range args {
		in[i] = p.values[a].traced
		of = append(of, fmt.Sprintf("%s %v", p.values[a].name, in[i].Fact()))
	}
	p.log = append(p.log, name+" of "+strings.Join(of, ", "))
	inner := map[string]*ops.Value{}
	p.seen = func(name string, v *ops.Value) { inner[name] = v }
	out := f(p.trace, in)
	if err := p.trace.Err(); err != nil {
		return errRefused{err}
	}
	for i, v := range out {
		made[i].traced = v
	}
	for k, i := range noted {
		made[i].traced = inner[k]
	}
	for _, m := range made {
		whole := m.traced != nil
		for _, t := range m.in {
			whole = whole && t != nil
		}
		if whole {
			m.name = fmt.Sprintf("%s#%d", m.name, len(p.values))
			p.values = append(p.values, m)
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// sound returns an error for each claim of the trace that is wrong in a world.
func (p *sizes) sound() error {
	first := map[graph.Elem][]int64{}
	where := map[graph.Elem]string{}
	for _, v := range p.values {
		known, are := v.places()
		if r := v.traced.Fact().Shape; r.HasRank() && r.Rank() != len(v.in[0].Shape()) {
			return fmt.Errorf("%s is %v, its shape is %v", v.name, r, v.in[0].Shape())
		}
		for i, e := range known {
			for w, n := range are[i] {
				if k, ok := e.Int(); ok && k != n {
					return fmt.Errorf("%s has a %d, in world %d it is %d", v.name, k, w, n)
				} else if ok || e == graph.UnknownElem() {
					continue
				}
				if f, ok := first[e]; !ok {
					first[e], where[e] = are[i], v.name
				} else if f[w] != n {
					return fmt.Errorf("%s has a size of %s: %d there, %d here", v.name, where[e], f[w], n)
				}
			}
		}
	}
	return nil
}

// lost returns a size of the last values, from a place on, that is one of their arguments' in
// every world and isn't known to be.
func (p *sizes) lost(from int, args []int) error {
	for _, v := range p.values[from:] {
		known, are := v.places()
		for i, e := range known {
			var hit []string
			found := false
			if are[i][0] < 5 { // no argument of the program has such a size
				continue
			}
			for _, a := range args {
				ks, as := p.values[a].places()
				for j, k := range ks {
					if _, ok := k.Int(); !ok && fmt.Sprint(as[j]) == fmt.Sprint(are[i]) && k != graph.UnknownElem() {
						found = found || k == e
						hit = append(hit, p.values[a].name)
					}
				}
			}
			if hit != nil && !found {
				return fmt.Errorf("%s is %v: its place %d is a size of %v", v.name, v.traced.Fact(), i, hit)
			}
		}
	}
	return nil
}

// steps are the parts of programs: each takes values of the program, or none if none fits, and
// returns its function.
var sizedSteps = map[string]func(p *sizes) (args []int, f func(s *ops.Scope, in []*ops.Value) []*ops.Value){
	"Tanh": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, _ int) *ops.Value { return ops.Tanh(s, x) }),
	"Cumsum": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, _ int) *ops.Value {
		return raw.Cumsum(s, x, ops.Const(s, 0), nil)
	}),
	"Scalar": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value { return ops.Maximum(s, x, float32(k)) }),
	"Reverse": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.ReverseV2(s, x, []int32{int32(k % max(x.Fact().Shape.Rank(), 1))})
	}),
	"Reduce": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.Sum(s, x, []int32{int32(k % max(x.Fact().Shape.Rank(), 1))}, &raw.SumOptions{KeepDims: k%2 == 0})
	}),
	"ArgMax": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return ops.Cast(s, raw.ArgMax(s, x, ops.Const(s, k%max(x.Fact().Shape.Rank(), 1)), nil), tensor.Float32)
	}),
	"Transpose": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		perm := make([]int32, x.Fact().Shape.Rank())
		for i := range perm {
			perm[i] = int32((i*(1+k%2*(len(perm)-2)) + k) % len(perm))
		}
		return raw.Transpose(s, x, perm)
	}),
	"ExpandDims": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.ExpandDims(s, x, ops.Const(s, k%(x.Fact().Shape.Rank()+1)))
	}),
	"Squeeze": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.Squeeze(s, ops.ExpandDims(s, x, 0), &raw.SqueezeOptions{SqueezeDims: []int64{0}})
	}),
	"Flatten": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value { return raw.Reshape(s, x, []int32{-1}) }),
	"Unflatten": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.Reshape(s, raw.Reshape(s, x, []int32{-1}), ops.Shape(s, x))
	}),
	"Row": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.StridedSlice(s, x, []int32{int32(-k % 2)}, []int32{1}, []int32{1}, &raw.StridedSliceOptions{ShrinkAxisMask: 1})
	}),
	"Rows": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.StridedSlice(s, x, []int32{int32(k%7 - 3)}, []int32{int32(k%5 - 2)}, []int32{int32(1 + k%2)}, &raw.StridedSliceOptions{BeginMask: int64(k % 2), EndMask: int64(k / 2 % 2)})
	}),
	"Last": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.StridedSlice(s, x, []int32{0, 0}, []int32{0, 1}, []int32{1, 1}, &raw.StridedSliceOptions{BeginMask: 3, EndMask: 3, EllipsisMask: 1, ShrinkAxisMask: int64(2 * (k % 2))})
	}),
	"Tile": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		m := make([]int32, x.Fact().Shape.Rank())
		for i := range m {
			m[i] = int32((k + i) % 3)
		}
		return raw.Tile(s, x, m)
	}),
	"Pad": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		pads := make([]int32, 2*x.Fact().Shape.Rank())
		if k%2 == 0 {
			pads[len(pads)-1] = int32(k % 3)
		}
		return raw.Pad(s, x, tensor.Must(tensor.New(pads, len(pads)/2, 2)))
	}),
	"Split": func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 1)
		if !ok {
			return nil, nil
		}
		n := int64(1 + p.r.IntN(3))
		return []int{a}, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return raw.Split(s, ops.Const(s, 0), in[0], n) }
	},
	"Where": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return ops.Cast(s, raw.Where(s, ops.Greater(s, x, float32(0))), tensor.Float32)
	}),
	"OneHot": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return ops.OneHot(s, ops.Cast(s, x, tensor.Int32), 1+k%4, tensor.Float32)
	}),
	"Range": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		n := raw.StridedSlice(s, ops.Shape(s, x), []int32{int32(k % max(x.Fact().Shape.Rank(), 1))}, []int32{0}, []int32{1}, &raw.StridedSliceOptions{ShrinkAxisMask: 1})
		return ops.Cast(s, raw.Range(s, k%2, n, 1), tensor.Float32)
	}),
	"Gradient": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			y := ops.Mul(s, ops.Transpose(s, x), ops.Transpose(s, ops.Tanh(s, x)))
			return ops.Mul(s, ops.Reshape(s, y, -1), float32(k))
		}, &grad.Options{Watch: []*ops.Value{x}})
		return tape.GradientOf(y, x)[0]
	}),

	"Add": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value { return ops.Add(s, x, y) }),
	"Where3": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.SelectV2(s, ops.Less(s, x, float32(k)), x, y)
	}),
	"Less": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return ops.Cast(s, ops.Less(s, x, y), tensor.Float32)
	}),
	"Concat": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.ConcatV2(s, []ops.Input{x, y}, ops.Const(s, k%max(1, x.Fact().Shape.Rank())))
	}),
	"Stack": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.Pack(s, []ops.Input{x, y, x}, &raw.PackOptions{Axis: int64(k % (x.Fact().Shape.Rank() + 1))})
	}),
	"MatMul": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.MatMul(s, x, y, &raw.MatMulOptions{TransposeA: k%2 > 0, TransposeB: k/2%2 > 0})
	}),
	"Gram": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return raw.BatchMatMulV2(s, x, x, &raw.BatchMatMulV2Options{AdjX: k%2 > 0, AdjY: k%2 == 0})
	}),
	"Einsum": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.Einsum(s, []ops.Input{x, y}, []string{"ij,jk->ki", "ij,ik->kj", "...a,ab->...b", "ab,cd->cabd", "a,b->ba"}[k%5])
	}),
	"Gather": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		at := ops.Cast(s, ops.Mul(s, y, float32(0)), tensor.Int32)
		return raw.GatherV2(s, x, at, ops.Const(s, k%max(1, x.Fact().Shape.Rank())), nil)
	}),
	"BroadcastTo": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.BroadcastTo(s, x, ops.Shape(s, y))
	}),
	"BroadcastOfOne": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		n := x.Fact().Shape.Rank()
		return ops.Add(s, raw.Sum(s, x, []int32{int32(k % max(1, n))}, &raw.SumOptions{KeepDims: true}), x)
	}),
	"ReshapeLike": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.Reshape(s, x, ops.Shape(s, y))
	}),

	"Shape": func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 0)
		if !ok {
			return nil, nil
		}
		return []int{a}, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return []*ops.Value{ops.Shape(s, in[0])} }
	},
	"SliceOfShape": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.StridedSlice(s, x, []int32{int32(k % 3)}, []int32{int32(k % 4)}, []int32{1}, &raw.StridedSliceOptions{EndMask: int64(k % 2)})
	}),
	"ConcatOfShapes": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.ConcatV2(s, []ops.Input{x, y}, ops.Const(s, 0))
	}),
	"GatherOfShape": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.GatherV2(s, x, []int32{int32(k % 2), int32(k % 3)}, ops.Const(s, 0), nil)
	}),
	"AddOfShapes": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return []func(*ops.Scope, ops.Input, ops.Input) *ops.Value{raw.AddV2, raw.Mul, raw.Sub, raw.FloorDiv, raw.Maximum, raw.Minimum}[k%6](s, x, y)
	}),
	"ShapeByNumber": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return []func(*ops.Scope, ops.Input, ops.Input) *ops.Value{raw.AddV2, raw.Mul, raw.Sub, raw.FloorDiv, raw.FloorMod}[k%5](s, x, k%3)
	}),
	"ProductOfShape": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.Prod(s, x, []int32{0}, &raw.ProdOptions{KeepDims: true})
	}),
	"SelectOfShapes": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.SelectV2(s, ops.Greater(s, x, k%4), x, y)
	}),
	"Reshape": func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 0)
		b, bok := p.pick(tensor.Int32, 1)
		if !ok || !bok {
			return nil, nil
		}
		k := p.r.IntN(12)
		return []int{a, b}, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
			to := in[1]
			switch k {
			case 0, 1, 2:
				to = raw.ConcatV2(s, []ops.Input{to, []int32{-1}}, ops.Const(s, 0))
			case 3, 4:
				to = raw.ConcatV2(s, []ops.Input{[]int32{-1}, to}, ops.Const(s, 0))
			case 5:
				to = raw.ConcatV2(s, []ops.Input{to, []int32{-1, 2}}, ops.Const(s, 0))
			}
			return []*ops.Value{raw.Reshape(s, in[0], to)}
		}
	},
	"Fill": intSized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return raw.Fill(s, raw.Minimum(s, x, 9), ops.Const(s, float32(1)))
	}),
	"Slice": func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 1)
		b, bok := p.pick(tensor.Int32, 1)
		if !ok || !bok {
			return nil, nil
		}
		return []int{a, b}, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
			return []*ops.Value{raw.Slice(s, in[0], raw.ZerosLike(s, in[1]), in[1])}
		}
	},

	"If": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		seen := p.seen
		return ops.If(s, ops.Less(s, ops.Size(s, x), k), func(s *ops.Scope) *ops.Value {
			out := ops.Tanh(s, x)
			seen("then", out)
			return out
		}, func(s *ops.Scope) *ops.Value {
			out := ops.Add(s, ops.ExpandDims(s, y, 0), float32(1))
			seen("else 1", out)
			out = raw.Reshape(s, ops.Mul(s, out, float32(2)), ops.Shape(s, y))
			seen("else 2", out)
			return out
		})
	}),
	"IfBoth": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		return ops.If(s, ops.Less(s, ops.Size(s, x), k), func(s *ops.Scope) *ops.Value { return ops.Neg(s, x) },
			func(s *ops.Scope) *ops.Value { return ops.Sin(s, x) })
	}),
	"While": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		seen := p.seen
		return ops.While(s, []*ops.Value{ops.Const(s, 0), x}, func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 1+k%4) },
			func(s *ops.Scope, v []*ops.Value) []*ops.Value {
				out := ops.Add(s, v[1], ops.Sum(s, y))
				seen("out", out)
				t := ops.Transpose(s, out)
				seen("transposed", t)
				return []*ops.Value{ops.Add(s, v[0], 1), out}
			})[1]
	}),
	"Grow": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		seen := p.seen
		out := ops.While(s, []*ops.Value{ops.Const(s, 0), x, y, y}, func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 2+k%2) },
			func(s *ops.Scope, v []*ops.Value) []*ops.Value {
				seen("in", v[1])
				out := raw.ConcatV2(s, []ops.Input{v[1], x}, ops.Const(s, 0))
				seen("out", out)
				if k%2 == 0 {
					return []*ops.Value{ops.Add(s, v[0], 1), out, v[2], v[3]}
				}
				return []*ops.Value{ops.Add(s, v[0], 1), out, v[3], ops.Transpose(s, v[2])}
			})
		if len(out) < 4 {
			return nil // the trace has failed
		}
		if k%2 == 0 {
			seen("second", out[2])
			seen("third", out[3])
		}
		return out[1]
	}),
	"Map": unarySized(func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value {
		seen := p.seen
		return ops.Map(s, x, func(s *ops.Scope, row *ops.Value) *ops.Value {
			seen("row", row)
			return ops.Tanh(s, row)
		})
	}),
	"Scan": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		seen := p.seen
		return ops.Scan(s, y, x, func(s *ops.Scope, acc, row *ops.Value) *ops.Value {
			seen("row", row)
			return ops.Add(s, acc, ops.Sum(s, row))
		})
	}),
	"Call": binarySized(func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value {
		return p.call.Apply(s, []*ops.Value{x, y})
	}),
}

type sizedStep = func(p *sizes) (args []int, f func(s *ops.Scope, in []*ops.Value) []*ops.Value)

func unarySized(f func(p *sizes, s *ops.Scope, x *ops.Value, k int) *ops.Value) sizedStep {
	return func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 1)
		if !ok {
			return nil, nil
		}
		k := p.r.IntN(60)
		return []int{a}, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return []*ops.Value{f(p, s, in[0], k)} }
	}
}

func binarySized(f func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value) sizedStep {
	return func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Float32, 0)
		b, bok := p.pick(tensor.Float32, 0)
		if !ok || !bok {
			return nil, nil
		}
		k := p.r.IntN(60)
		return []int{a, b}, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return []*ops.Value{f(p, s, in[0], in[1], k)} }
	}
}

func intSized(f func(p *sizes, s *ops.Scope, x, y *ops.Value, k int) *ops.Value) sizedStep {
	return func(p *sizes) ([]int, func(*ops.Scope, []*ops.Value) []*ops.Value) {
		a, ok := p.pick(tensor.Int32, 1)
		b, bok := p.pick(tensor.Int32, 1)
		if !ok || !bok {
			return nil, nil
		}
		k := p.r.IntN(60)
		return []int{a, b}, func(s *ops.Scope, in []*ops.Value) []*ops.Value { return []*ops.Value{f(p, s, in[0], in[1], k)} }
	}
}

// run makes a program of some steps, without those named.
func (p *sizes) run(t *testing.T, steps int, without map[string]bool, check func(name string, from int, args []int) error) {
	names := sorted(sizedSteps)
	for range steps {
		name := names[p.r.IntN(len(names))]
		args, f := sizedSteps[name](p)
		if f == nil || without[name] {
			continue
		}
		from := len(p.values)
		err := p.do(name, f, args...)
		if err == nil && len(p.values) > from {
			err = check(name, from, args)
		}
		if err != nil {
			t.Errorf("%s: %v\n  %s", name, err, strings.Join(p.log, "\n  "))
			return
		}
	}
}

// TestEqualSizesOfATraceAreChecked runs random programs over tensors of unknown sizes, of which
// some are 0, 1, or by chance the same. It checks that sizes which the trace knows or takes for the
// same are so when they run.
func TestEqualSizesOfATraceAreChecked(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newSizes(t, r, 1, func(int) int { return r.IntN(5) })
		p.run(t, 14, nil, func(name string, _ int, _ []int) error { seen[name]++; return p.sound() })
	}
	for name := range sizedSteps {
		if seen[name] < 9 {
			t.Errorf("%s ran %d times", name, seen[name])
		}
	}
}

// sizedByData are the steps whose results have sizes that aren't told by those of their arguments, and may be
// the same in all worlds by chance: they depend on a condition, on elements, on how many elements a list has.
var sizedByData = map[string]bool{"If": true, "SelectOfShapes": true, "Map": true, "Scan": true, "Where": true, "Rows": true}

// TestSizesThatStayTheSameAreKnownTo: a size of a result that is an argument's, whatever the arguments' sizes
// are, is known to be.
func TestSizesThatStayTheSameAreKnownTo(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		primes := [...]int{5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61}
		perms := [3][]int{r.Perm(16), r.Perm(16), r.Perm(16)}
		p := newSizes(t, r, 3, func(w int) int {
			d := primes[perms[w][0]]
			perms[w] = perms[w][1:]
			return d
		})
		p.run(t, 12, sizedByData, func(name string, from int, args []int) error {
			if err := p.sound(); err != nil {
				return err
			}
			return p.lost(from, args)
		})
	}
}
