package matmul

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The op _Attention: softmax(q·kᵀ · scale + mask) · v, a block of queries at a time. The bits are
// those of the single ops.

// attentionDef defines the op that a plan makes of attention; see
// [passes.AttentionOp].
var attentionDef = &graph.OpDef{
	Name: passes.AttentionOp,
	Inputs: []graph.ArgDef{{Name: "queries", TypeAttr: "T"}, {Name: "keys", TypeAttr: "T"}, {Name: "values", TypeAttr: "T"},
		{Name: "args", TypeAttr: "T", NumberAttr: "N"}},
	Outputs: []graph.ArgDef{{Name: "output", TypeAttr: "T"}},
	Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: []tensor.DType{tensor.Float32}},
		{Name: "N", Kind: graph.AttrInt, HasMinimum: true},
		{Name: "layouts", Kind: graph.AttrStrings},
		{Name: "scale", Kind: graph.AttrString},
		{Name: "mask", Kind: graph.AttrBool},
	},
}

// attention is a prepared node.
type attention struct {
	layouts []string
	scale   func(dst, a []float32, b float32) // nil: none
	mask    int                               // the input; 0: none
	inputs  int
	softmax func(dst, x []float32)
	pool    sync.Pool // of *attend
}

// prepareAttention checks the layouts: b is the batch, h the head, t the query, s the key, d and e
// the elements of keys and of values.
func prepareAttention(n *engine.Node) (func(*engine.Call) error, error) {
	k := &attention{layouts: n.Attrs.Strings("layouts"), inputs: 3, softmax: vec.Softmax[float32]}
	if n.Attrs.Bool(passes.FastAttr) {
		k.softmax = vec.FastSoftmax
	}
	switch op := n.Attrs.String("scale", ""); op {
	case "":
	case "Mul":
		k.scale = vec.MulVS[float32]
	case "RealDiv":
		k.scale = vec.DivVS[float32]
	default:
		return nil, fmt.Errorf("scores can't be scaled by %q", op)
	}
	if k.scale != nil {
		k.inputs++
	}
	if n.Attrs.Bool("mask") {
		k.mask = k.inputs
		k.inputs++
	}
	if len(k.layouts) != 4 || len(n.In) != k.inputs {
		return nil, fmt.Errorf("%d layouts and %d inputs, where 4 and %d are needed", len(k.layouts), len(n.In), k.inputs)
	}
	for i, letters := range []string{"td", "sd", "se", "te"} {
		outer := strings.Map(func(l rune) rune {
			if strings.ContainsRune(letters, l) {
				return -1
			}
			return l
		}, k.layouts[i])
		last := k.layouts[i][max(len(k.layouts[i])-1, 0):]
		if len(k.layouts[i]) != len(outer)+2 || len(k.layouts[i]) != len(k.layouts[0]) || outer != "b" && outer != "bh" && outer != "hb" || !strings.Contains(letters, last) || i == 3 && last != "e" {
			return nil, fmt.Errorf("the layout %q", k.layouts[i])
		}
	}
	k.pool.New = func() any {
		a := new(attend)
		a.work = a.blocks
		return a
	}
	return k.run, nil
}

// side is an input or the output as matrices, one for each b and h.
type side struct {
	data  []float32
	b, h  int  // strides
	ld    int  // of the matrices
	trans bool // they are transposed
}

// attend is a call under way.
type attend struct {
	*attention
	sides            [4]side
	b, h, t, s, d, e int
	number           float32 // scales the scores
	mask             []float32
	maskStride       [4]int // of b, h, t and s
	rows, perHead    int    // queries of a block, blocks of a head
	mu               sync.Mutex
	idle             [][]float32 // room for the scores of a block
	work             func(lo, hi int)
}

func (k *attention) run(c *engine.Call) error {
	if err := c.Need(k.inputs); err != nil {
		return err
	}
	a := k.pool.Get().(*attend)
	defer func() {
		clear(a.idle)
		*a = attend{idle: a.idle[:0], work: a.work}
		k.pool.Put(a)
	}()
	a.attention = k
	dims := map[byte]int{'h': 1}
	for i, layout := range k.layouts {
		var shape tensor.Shape
		if i < 3 {
			x := c.In(i)
			if x.DType() != tensor.Float32 {
				return &engine.UnsupportedTypeError{Attr: "T", Type: x.DType(), Known: []tensor.DType{tensor.Float32}}
			}
			shape = x.Shape()
			if len(shape) != len(layout) {
				return fmt.Errorf("input %d has shape %v, and the layout %q", i, shape, layout)
			}
			for p, n := range shape {
				if old, seen := dims[layout[p]]; seen && old != n && (layout[p] != 'h' || i > 0) {
					return fmt.Errorf("input %d has shape %v, where %q is %d already", i, shape, layout[p], old)
				}
				dims[layout[p]] = n
			}
			a.sides[i].data = tensor.Values[float32](x)
		} else {
			for p := range len(layout) {
				shape = append(shape, dims[layout[p]])
			}
			out, err := c.Alloc(0, tensor.Float32, shape)
			if err != nil || out.Len() == 0 {
				return err
			}
			a.sides[i].data = tensor.Values[float32](out)
		}
		a.sides[i].lie(layout, shape, "td sd se te"[3*i:3*i+2])
	}
	a.b, a.h, a.t, a.s, a.d, a.e = dims['b'], dims['h'], dims['t'], dims['s'], dims['d'], dims['e']
	if a.s == 0 || a.d == 0 {
		return fmt.Errorf("attention to %d keys of %d numbers", a.s, a.d)
	}
	if err := a.takeArgs(c); err != nil {
		return err
	}
	// The scores of a block stay in the L2 cache. If there are few heads,
	// blocks are small enough for all workers.
	const most = 1 << 16
	a.perHead = (a.t + max(most/a.s, 12) - 1) / max(most/a.s, 12)
	if heads := a.b * a.h; heads < 4*c.Workers().Count() {
		a.perHead = max(a.perHead, min((4*c.Workers().Count()+heads-1)/heads, a.t/48))
	}
	a.rows = (a.t + a.perHead - 1) / a.perHead
	for range c.Workers().Count() {
		room, _ := engine.Scratch[float32](c, a.rows*a.s)
		a.idle = append(a.idle, room)
	}
	each := gemm.Cost(4, a.rows, a.s, a.d) + gemm.Cost(4, a.rows, a.e, a.s) + float64(a.rows*a.s)*0.5
	if n := a.b * a.h * a.perHead; c.Large(n, each) {
		c.Parallel(n, each, a.work)
	} else {
		a.blocks(0, n)
	}
	return nil
}

// lie sets the strides of the matrices. matrix has the letters of their rows and their columns in
// the layout.
func (s *side) lie(layout string, shape tensor.Shape, matrix string) {
	strides := shapes.Strides(shape)
	for p := range len(layout) {
		switch layout[p] {
		case 'b':
			s.b = strides[p]
		case 'h':
			s.h = strides[p]
		case matrix[0], matrix[1]:
			if p < len(layout)-1 {
				s.ld, s.trans = strides[p], layout[p] == matrix[1]
			}
		}
	}
}

// takeArgs takes the number that scales and the mask.
func (a *attend) takeArgs(c *engine.Call) error {
	for i := 3; i < a.inputs; i++ {
		if x := c.In(i); x.DType() != tensor.Float32 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: x.DType(), Known: []tensor.DType{tensor.Float32}}
		}
	}
	if a.scale != nil {
		if c.In(3).Len() != 1 {
			return fmt.Errorf("scores are scaled by %v, not by one number", c.In(3).Shape())
		}
		a.number = tensor.Values[float32](c.In(3))[0]
	}
	if a.attention.mask == 0 {
		return nil
	}
	x := c.In(a.attention.mask)
	full := tensor.Shape{a.b, a.h, a.t, a.s}
	if !strings.Contains(a.layouts[0], "h") {
		full = tensor.Shape{a.b, a.t, a.s}
	}
	m := x.Shape()
	if len(m) > len(full) {
		return fmt.Errorf("a mask of shape %v for scores of %v", m, full)
	}
	strides := shapes.Strides(m)
	for i, n := range m {
		at := len(full) - len(m) + i
		if n != 1 && n != full[at] {
			return fmt.Errorf("a mask of shape %v for scores of %v", m, full)
		}
		if n == 1 {
			continue
		}
		if len(full) == 3 && at == 0 {
			at = -1
		}
		a.maskStride[4-len(full)+at] = strides[i]
	}
	a.mask = tensor.Values[float32](x)
	return nil
}

// blocks computes blocks lo to hi of queries.
func (a *attend) blocks(lo, hi int) {
	room := a.take()
	for i := lo; i < hi; i++ {
		head, part := i/a.perHead, i%a.perHead
		first := part * a.rows
		if n := min(a.rows, a.t-first); n > 0 {
			a.block(room, head/a.h, head%a.h, first, n)
		}
	}
	a.mu.Lock()
	a.idle = append(a.idle, room)
	a.mu.Unlock()
}

// take returns room for the scores of a block. A helper that was late for another loop
// may work on this one besides those that were counted.
func (a *attend) take() []float32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.idle) - 1
	if last < 0 {
		return make([]float32, a.rows*a.s)
	}
	room := a.idle[last]
	a.idle = a.idle[:last]
	return room
}

// block computes n queries from the given one on.
func (a *attend) block(scores []float32, b, h, first, n int) {
	var m [4][]float32
	for i := range a.sides {
		s := &a.sides[i]
		m[i] = s.data[b*s.b+h*s.h:]
	}
	q, k, v, o := &a.sides[0], &a.sides[1], &a.sides[2], &a.sides[3]
	step := q.ld
	if q.trans {
		step = 1
	}
	gemm.F32(scores, a.s, m[0][first*step:], q.ld, q.trans, m[1], k.ld, !k.trans, n, a.s, a.d, false, nil)
	for i := range n {
		row := scores[i*a.s : (i+1)*a.s]
		if a.scale != nil {
			a.scale(row, row, a.number)
		}
		if a.mask != nil {
			at := a.mask[b*a.maskStride[0]+h*a.maskStride[1]+(first+i)*a.maskStride[2]:]
			if a.maskStride[3] == 0 {
				vec.AddVS(row, row, at[0])
			} else {
				vec.AddVV(row, row, at[:a.s])
			}
		}
		a.softmax(row, row)
	}
	gemm.F32(m[3][first*o.ld:], o.ld, scores, a.s, false, m[2], v.ld, v.trans, n, a.e, a.s, false, nil)
}
