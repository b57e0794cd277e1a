package matmul

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The op _Rows: products with weights and layer normalizations over the same rows. Its bits are
// those of the single ops. The attributes are lists with an entry for each step.

// rowsDef defines the op that a plan makes of ops over the same rows; see
// [passes.RowsOp].
var rowsDef = &graph.OpDef{
	Name:    passes.RowsOp,
	Inputs:  []graph.ArgDef{{Name: "inputs", TypeAttr: "T", NumberAttr: "N"}},
	Outputs: []graph.ArgDef{{Name: "outputs", TypeAttr: "T", NumberAttr: "M"}},
	Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: []tensor.DType{tensor.Float32}},
		{Name: "N", Kind: graph.AttrInt, HasMinimum: true, Minimum: 1},
		{Name: "M", Kind: graph.AttrInt, HasMinimum: true, Minimum: 1},
		{Name: "steps", Kind: graph.AttrStrings},
		{Name: "fused_ops", Kind: graph.AttrStrings},
		{Name: "transposed", Kind: graph.AttrBools},
		{Name: "alphas", Kind: graph.AttrFloats},
		{Name: "epsilons", Kind: graph.AttrFloats},
		{Name: "operands", Kind: graph.AttrInts},
		{Name: "counts", Kind: graph.AttrInts},
		{Name: "results", Kind: graph.AttrInts},
		{Name: "shapes", Kind: graph.AttrShapes},
	},
}

// rowStep is a step of a [passes.RowsOp]. Its operands are inputs or, from
// their number on, results of earlier steps.
type rowStep struct {
	src, width int
	cost       float64 // nanoseconds a row takes
	out        int     // the output that it is; -1: none

	// A product with weights of k rows.
	weights, k int
	transposed bool
	packing    engine.Packing
	finish     *epilogue.Epilogue // Bias and Add are operands of the step; -1: none

	// A normalization.
	norm    bool
	epsilon float32
	vectors [2]int // gamma, beta
}

// rowChain is a prepared node.
type rowChain struct {
	inputs int
	rows   int
	shapes []tensor.Shape // of the outputs
	steps  []rowStep
	over   []bool // whether an input is one of rows
	widths []int  // of the inputs of rows, and numbers of elements of the others
	room   int    // numbers a row takes in memory of a core's own
	near   int    // numbers a row takes in the cache
	cost   float64
	calls  sync.Pool // of *rowCall
}

func prepareRows(n *engine.Node) (func(*engine.Call) error, error) {
	k := &rowChain{inputs: len(n.In), over: make([]bool, len(n.In)), widths: make([]int, len(n.In))}
	ops, fused := n.Attrs.Strings("steps"), n.Attrs.Strings("fused_ops")
	transposed, alphas, epsilons := n.Attrs.Bools("transposed"), n.Attrs.Floats("alphas"), n.Attrs.Floats("epsilons")
	operands, counts, results := n.Attrs.Ints("operands"), n.Attrs.Ints("counts"), n.Attrs.Ints("results")
	total := int64(0)
	for _, c := range counts {
		total += max(c, 0)
	}
	if s := len(ops); s == 0 || len(fused) != s || len(transposed) != s || len(alphas) != s || len(epsilons) != s || len(counts) != s || total != int64(len(operands)) || len(results) != len(n.Out) {
		return nil, fmt.Errorf("lists of %d steps, %d operands and %d results don't fit each other", s, len(operands), len(results))
	}
	for i, op := range ops {
		in := operands[:counts[i]]
		operands = operands[counts[i]:]
		for _, o := range in {
			if o < 0 || o >= int64(len(n.In)+i) {
				return nil, fmt.Errorf("step %d takes operand %d", i, o)
			}
		}
		var s rowStep
		var err error
		switch {
		case op == "_FusedMatMul" && len(in) >= 2:
			s, err = k.product(n, in, fused[i], transposed[i], alphas[i])
		case op == passes.LayerNormOp && len(in) == 3:
			s, err = k.normalization(n, in, epsilons[i])
		default:
			err = fmt.Errorf("step %d is a %s of %d operands", i, op, len(in))
		}
		if err != nil {
			return nil, err
		}
		k.steps = append(k.steps, s)
	}
	for i := range k.steps {
		k.steps[i].out = -1
	}
	for i, s := range results {
		dims, known := n.Out[i].Shape.Tensor()
		if s < 0 || int(s) >= len(k.steps) || !known {
			return nil, fmt.Errorf("output %d is step %d, of shape %v", i, s, n.Out[i].Shape)
		}
		k.steps[s].out = i
		k.shapes = append(k.shapes, dims)
	}
	k.size()
	k.calls.New = func() any {
		c := new(rowCall)
		c.work = c.blocks
		return c
	}
	return k.run, nil
}

// operand notes that operand o of a step has rows, all of them as many, and returns how
// wide they are.
func (k *rowChain) operand(n *engine.Node, o int64) (width int, err error) {
	if int(o) >= k.inputs {
		return k.steps[int(o)-k.inputs].width, nil
	}
	dims, known := n.In[o].Shape.Tensor()
	if !known || len(dims) == 0 {
		return 0, fmt.Errorf("input %d of shape %v has no rows", o, n.In[o].Shape)
	}
	width = dims[len(dims)-1]
	rows, err := dims[:len(dims)-1].NumElements()
	if err != nil || rows == 0 || width == 0 || k.rows != 0 && rows != k.rows {
		return 0, fmt.Errorf("input %d of shape %v for %d rows", o, dims, k.rows)
	}
	k.rows, k.over[o], k.widths[o] = rows, true, width
	return width, nil
}

// vector notes that an operand is one of n numbers in each call.
func (k *rowChain) vector(o int64, n int) (int, error) {
	if int(o) >= k.inputs || k.over[o] || k.widths[o] != 0 && k.widths[o] != n {
		return 0, fmt.Errorf("operand %d is no input of %d numbers", o, n)
	}
	k.widths[o] = n
	return int(o), nil
}

// product prepares a product with weights, and its epilogue.
func (k *rowChain) product(n *engine.Node, in []int64, fused string, transposed bool, alpha float64) (s rowStep, err error) {
	if s.k, err = k.operand(n, in[0]); err != nil {
		return s, err
	}
	dims, known := n.In[min(int(in[1]), k.inputs-1)].Shape.Tensor()
	if !known || len(dims) != 2 {
		return s, fmt.Errorf("weights of shape %v", dims)
	}
	s.width = dims[1]
	if transposed {
		dims, s.width = tensor.Shape{dims[1], dims[0]}, dims[0]
	}
	if dims[0] != s.k || s.width == 0 {
		return s, fmt.Errorf("weights of %d rows for rows of %d", dims[0], s.k)
	}
	s.src, s.transposed = int(in[0]), transposed
	if s.weights, err = k.vector(in[1], s.k*s.width); err != nil {
		return s, err
	}
	p := product{m: k.rows, n: s.width, k: s.k, tb: transposed}
	p.dense()
	s.packing = p.packed(n, s.weights)
	args := len(in) - 2
	attrs := graph.Attrs{graph.Int("num_args", int64(args)), graph.Float("leakyrelu_alpha", alpha), graph.Bool(passes.FastAttr, n.Attrs.Bool(passes.FastAttr))}
	if fused != "" {
		attrs = append(attrs, graph.Strings("fused_ops", strings.Split(fused, ",")...))
	}
	if s.finish, err = epilogue.Of(&engine.Node{Attrs: attrs}, 2); err != nil {
		return s, err
	}
	if s.finish.Bias > 0 {
		if s.finish.Bias, err = k.vector(in[s.finish.Bias], s.width); err != nil {
			return s, err
		}
	} else {
		s.finish.Bias = -1
	}
	if s.finish.Add > 0 {
		o := in[s.finish.Add]
		if w, err := k.operand(n, o); err != nil || w != s.width {
			return s, fmt.Errorf("summands of rows of %d for rows of %d: %w", w, s.width, err)
		}
		s.finish.Add = int(o)
	} else {
		s.finish.Add = -1
	}
	s.cost = gemm.Cost(4, 64, s.width, s.k)/64 + s.finish.Cost*float64(s.width)
	return s, nil
}

// normalization prepares a layer normalization.
func (k *rowChain) normalization(n *engine.Node, in []int64, epsilon float64) (s rowStep, err error) {
	s.norm, s.src, s.epsilon = true, int(in[0]), float32(epsilon)
	if s.width, err = k.operand(n, in[0]); err != nil {
		return s, err
	}
	for i := range s.vectors {
		if s.vectors[i], err = k.vector(in[1+i], s.width); err != nil {
			return s, err
		}
	}
	s.cost = 0.5 * float64(s.width)
	return s, nil
}

// size computes the memory and time that a row takes.
func (k *rowChain) size() {
	for i := range k.steps {
		s := &k.steps[i]
		if s.out < 0 {
			k.room += s.width
		}
		k.near += s.width
		k.cost += s.cost
	}
}

// rowCall is a call under way.
type rowCall struct {
	*rowChain
	c        *engine.Call
	in, out  [][]float32
	weights  []*gemm.Weights[float32] // of the steps
	perBlock int
	mu       sync.Mutex
	idle     []*rowRoom
	work     func(lo, hi int)
}

// rowRoom is the working memory of a core.
type rowRoom struct {
	mem    []float32   // nil while it isn't in use
	own    []float32   // mem of a helper that wasn't counted: kept, as the next call may have one too
	values [][]float32 // a block's rows of each operand
	finish gemm.Epilogue[float32]
}

func (k *rowChain) run(c *engine.Call) error {
	if err := c.Need(k.inputs); err != nil {
		return err
	}
	a := k.calls.Get().(*rowCall)
	defer k.calls.Put(a)
	defer a.end()
	a.rowChain, a.c = k, c
	for i := range k.inputs {
		x := c.In(i)
		want := k.widths[i]
		if k.over[i] {
			want *= k.rows
		}
		if x.DType() != tensor.Float32 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: x.DType(), Known: []tensor.DType{tensor.Float32}}
		}
		if x.Len() != want {
			return fmt.Errorf("input %d has shape %v, and was to have %d elements", i, x.Shape(), want)
		}
		a.in = append(a.in, tensor.Values[float32](x))
	}
	for i, s := range k.shapes {
		out, err := c.Alloc(i, tensor.Float32, s)
		if err != nil {
			return err
		}
		a.out = append(a.out, tensor.Values[float32](out))
	}
	for i := range k.steps {
		s := &k.steps[i]
		var w *gemm.Weights[float32]
		if !s.norm {
			var kept bool
			if w, kept = c.Packed(s.packing).(*gemm.Weights[float32]); !kept {
				ld := s.width
				if s.transposed {
					ld = s.k
				}
				w = gemm.PackTemporary(a.in[s.weights], ld, s.transposed, s.k, s.width, c.Workers())
				defer w.Free()
			}
		}
		a.weights = append(a.weights, w)
	}
	blocks := a.cut(c.Workers().Count())
	rooms := min(blocks, c.Workers().Count())
	for len(a.idle) < rooms {
		a.idle = append(a.idle, &rowRoom{values: make([][]float32, k.inputs+len(k.steps))})
	}
	for _, r := range a.idle[:rooms] {
		r.mem, _ = engine.Scratch[float32](c, a.perBlock*k.room)
	}
	if blocks == 1 {
		a.block(a.idle[0], 0, k.rows, c.Workers())
		return nil
	}
	c.Parallel(blocks, k.cost*float64(a.perBlock), a.work)
	return nil
}

// cut returns the number of blocks of rows into which the work is cut. Each
// worker begins with the same number of blocks. A block has as many rows as
// leave the results in the L2 cache, or some more if the weights would be read
// too often. If each worker would have few rows, all are one block whose steps
// are divided among the workers.
func (a *rowCall) cut(workers int) (blocks int) {
	const (
		most  = 1 << 17 // numbers in the L2 cache
		worth = 64      // rows that are worth reading the weights for
		least = 24      // rows that are worth a block of a worker's own
	)
	a.perBlock = a.rows
	each := (a.rows + workers - 1) / workers
	if workers == 1 || each >= least {
		n := max(most/a.near, worth)
		blocks = workers * ((each + n - 1) / n)
		a.perBlock = (a.rows + blocks - 1) / blocks
	}
	return (a.rows + a.perBlock - 1) / a.perBlock
}

// end drops the call's tensors before the memory goes back to the pool.
func (a *rowCall) end() {
	clear(a.in)
	clear(a.out)
	clear(a.weights)
	for _, r := range a.idle {
		r.mem, r.finish = nil, gemm.Epilogue[float32]{}
		clear(r.values)
	}
	a.c, a.in, a.out, a.weights = nil, a.in[:0], a.out[:0], a.weights[:0]
}

// blocks computes blocks lo to hi.
func (a *rowCall) blocks(lo, hi int) {
	r := a.take()
	for i := lo; i < hi; i++ {
		a.block(r, i*a.perBlock, min((i+1)*a.perBlock, a.rows), nil)
	}
	a.mu.Lock()
	a.idle = append(a.idle, r)
	a.mu.Unlock()
}

// take returns room for a block. A helper that was late for another loop may work on this
// one besides those that were counted: on a busy machine one does in every call.
func (a *rowCall) take() *rowRoom {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.idle) - 1
	at := last
	for at >= 0 && a.idle[at].mem == nil {
		at--
	}
	if at < 0 {
		at = last
	}
	var r *rowRoom
	if at < 0 {
		r = &rowRoom{values: make([][]float32, a.inputs+len(a.steps))}
	} else {
		r = a.idle[at]
		a.idle[at], a.idle[last] = a.idle[last], nil
		a.idle = a.idle[:last]
	}
	if n := a.perBlock * a.room; r.mem == nil && n > 0 {
		if len(r.own) < n {
			r.own = make([]float32, n)
		}
		r.mem = r.own
	}
	return r
}

// block takes rows lo to hi through all steps; par are the workers that each step is shared
// out to.
func (a *rowCall) block(r *rowRoom, lo, hi int, par gemm.Parallel) {
	n := hi - lo
	for i, x := range a.in {
		if w := a.widths[i]; a.over[i] {
			x = x[lo*w : hi*w]
		}
		r.values[i] = x
	}
	free := r.mem
	for i := range a.steps {
		s := &a.steps[i]
		var dst []float32
		if s.out >= 0 {
			dst = a.out[s.out][lo*s.width : hi*s.width]
		} else {
			dst, free = free[:n*s.width], free[a.perBlock*s.width:]
		}
		r.values[a.inputs+i] = dst
		src := r.values[s.src]
		if s.norm {
			a.normalize(r, s, dst, src, n, par)
			continue
		}
		r.finish = gemm.Epilogue[float32]{Clamp: s.finish.Clamp, Low: s.finish.Low, High: s.finish.High}
		if s.finish.Bias >= 0 {
			r.finish.Bias = r.values[s.finish.Bias]
		}
		if s.finish.Add >= 0 {
			r.finish.Add = r.values[s.finish.Add]
		}
		if !s.finish.Clamp {
			r.finish.Map = s.finish.Activate
		}
		a.weights[i].Multiply(dst, s.width, src, s.k, n, &r.finish, par)
	}
}

func (a *rowCall) normalize(r *rowRoom, s *rowStep, dst, src []float32, n int, par gemm.Parallel) {
	gamma, beta := r.values[s.vectors[0]], r.values[s.vectors[1]]
	if par == nil {
		s.normRows(dst, src, gamma, beta, 0, n)
		return
	}
	par.Run(n, s.cost, func(lo, hi int) { s.normRows(dst, src, gamma, beta, lo, hi) })
}

// normRows normalizes rows lo to hi.
func (s *rowStep) normRows(dst, src []float32, gamma, beta []float32, lo, hi int) {
	for i := lo; i < hi; i++ {
		vec.LayerNorm(dst[i*s.width:(i+1)*s.width], src[i*s.width:(i+1)*s.width], gamma, beta, s.epsilon)
	}
}
