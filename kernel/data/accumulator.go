package data

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/scatter"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ConditionalAccumulator, ResourceConditionalAccumulator,
// SparseConditionalAccumulator and the ops on them. TensorFlow's
// ConditionalAccumulatorBase decides which gradients count and how a mean is
// formed.

// accumulator adds up gradients until an op takes their mean or their sum. It
// is safe for concurrent use.
type accumulator struct {
	waiting
	dtype  tensor.DType
	shape  graph.PartialShape
	mean   bool
	sparse bool

	step  int64 // gradients of earlier steps are dropped
	count int64
	sum   *tensor.Tensor // nil before the first gradient

	// Of a sparse one: sum's rows are those of indices, which rise.
	indices []int64
	counts  []int64 // how many gradients had the row
	dense   []int64 // the shape of the whole gradient; nil if it isn't known
}

func newAccumulator(sparse bool) func(graph.Attrs, string) (*accumulator, error) {
	return func(as graph.Attrs, what string) (*accumulator, error) {
		how := as.String("reduction_type", "MEAN")
		if how != "MEAN" && how != "SUM" {
			return nil, fmt.Errorf("reduction_type is %q, neither MEAN nor SUM", how)
		}
		shape, _ := as.Shape("shape")
		return &accumulator{waiting: waiting{what: what}, dtype: as.Type("dtype", tensor.Invalid), shape: shape, mean: how == "MEAN", sparse: sparse}, nil
	}
}

// accumulators returns the kernels of accumulators.
func accumulators() []engine.Kernel {
	types := engine.Types{"dtype": {tensor.Float32, tensor.Float64, tensor.Float16}}
	same := func(a *accumulator, as graph.Attrs) error {
		if d := as.Type("dtype", tensor.Invalid); d != a.dtype {
			return fmt.Errorf("it holds %v, not %v", a.dtype, d)
		}
		return nil
	}
	table := []engine.Kernel{
		{Op: "ConditionalAccumulator", Types: types, Prepare: resourceOf("accumulator", true, newAccumulator(false), same)},
		{Op: "ResourceConditionalAccumulator", Types: types, Prepare: resourceOf("accumulator", false, newAccumulator(false), same)},
		{Op: "SparseConditionalAccumulator", Types: types, Prepare: resourceOf("sparse accumulator", true, newAccumulator(true), same)},
		{Op: "SparseAccumulatorApplyGradient", Types: types, Run: applySparse},
		{Op: "SparseAccumulatorTakeGradient", Types: types, Run: takeSum},
	}
	for _, k := range []engine.Kernel{
		{Op: "AccumulatorApplyGradient", Types: types, Run: applyGradient}, {Op: "AccumulatorTakeGradient", Types: types, Run: takeSum},
		{Op: "AccumulatorNumAccumulated", Run: accumulated}, {Op: "AccumulatorSetGlobalStep", Run: setStep},
	} {
		table = append(table, k)
		k.Op = "Resource" + k.Op
		table = append(table, k)
	}
	return table
}

func accumulatorIn(c *engine.Call, n int) (*accumulator, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	if err := c.NeedTensors(1); err != nil {
		return nil, err
	}
	return engine.Object[*accumulator](c, 0)
}

func applyGradient(c *engine.Call) error {
	a, err := accumulatorIn(c, 3)
	if err != nil {
		return err
	}
	step, err := intIn(c, 1, "the local step")
	if err != nil {
		return err
	}
	g := c.In(2)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.sparse || g.DType() != a.dtype || !a.shape.Accepts(g.Shape()):
		return fmt.Errorf("the %s holds %v%v, the gradient is %v%v", a.what, a.dtype, a.shape, g.DType(), g.Shape())
	case step < a.step:
		return nil
	case a.sum == nil:
		a.sum = g.Clone()
	case !a.sum.Shape().Equal(g.Shape()):
		return fmt.Errorf("the gradient has shape %v, those before it %v", g.Shape(), a.sum.Shape())
	default:
		if err := scatter.To(nil, a.sum, []int{0}, g.Len(), g, scatter.Add); err != nil {
			return err
		}
	}
	a.count++
	a.change()
	return nil
}

// applySparse adds the rows of a gradient to those that are there.
func applySparse(c *engine.Call) error {
	a, err := accumulatorIn(c, 5)
	if err != nil {
		return err
	}
	step, err := intIn(c, 1, "the local step")
	if err != nil {
		return err
	}
	at, values, shape := c.In(2), c.In(3), c.In(4)
	if at.DType() != tensor.Int64 || len(at.Shape()) != 1 || len(values.Shape()) == 0 || values.Shape()[0] != at.Len() || shape.DType() != tensor.Int64 || len(shape.Shape()) != 1 {
		return fmt.Errorf("indices %v%v, values %v and a shape %v are no gradient of rows", at.DType(), at.Shape(), values.Shape(), shape.Shape())
	}
	indices, dense := tensor.Values[int64](at), tensor.Values[int64](shape)
	if at.Len() == 0 {
		return fmt.Errorf("the gradient has no rows")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.sparse || values.DType() != a.dtype {
		return fmt.Errorf("the %s holds %v, the gradient is %v", a.what, a.dtype, values.DType())
	}
	if c.Attrs().Bool("has_known_shape") {
		if err := a.fits(dense, values.Shape()); err != nil {
			return err
		}
	}
	for i, k := range indices {
		if k < 0 || i > 0 && k <= indices[i-1] || len(dense) > 0 && k >= dense[0] && c.Attrs().Bool("has_known_shape") {
			return fmt.Errorf("the indices %v don't rise within the %v rows", indices, dense)
		}
	}
	if a.sum != nil && !a.sum.Shape()[1:].Equal(values.Shape()[1:]) {
		return fmt.Errorf("the gradient's rows have shape %v, those before it %v", values.Shape()[1:], a.sum.Shape()[1:])
	}
	if step < a.step {
		return nil
	}
	if err := a.addRows(c, indices, values); err != nil {
		return err
	}
	if len(dense) > 0 {
		a.dense = slices.Clone(dense)
	}
	a.count++
	a.change()
	return nil
}

// fits checks dense, the shape of a whole gradient, against the shape of its rows,
// whose first size is the number of rows.
func (a *accumulator) fits(dense []int64, rows tensor.Shape) error {
	whole := make(tensor.Shape, len(dense))
	for i, n := range dense {
		if n < 0 || n != int64(int(n)) {
			return fmt.Errorf("the gradient's shape is %v", dense)
		}
		whole[i] = int(n)
	}
	if len(whole) > 0 && (!a.shape.Accepts(whole) || !whole[1:].Equal(rows[1:])) {
		return fmt.Errorf("the %s holds %v, the gradient has shape %v in rows of %v", a.what, a.shape, whole, rows[1:])
	}
	return nil
}

// addRows merges rows into the sum.
func (a *accumulator) addRows(c *engine.Call, indices []int64, values *tensor.Tensor) error {
	if a.sum == nil {
		a.sum, a.indices, a.counts = values.Clone(), slices.Clone(indices), slices.Repeat([]int64{1}, len(indices))
		return nil
	}
	all := slices.Concat(a.indices, indices)
	slices.Sort(all)
	all = slices.Compact(all)
	n := values.Len() / values.Shape()[0]
	if err := c.Afford(int64(len(all)) * int64(n) * int64(a.dtype.Size())); err != nil {
		return err
	}
	sum, err := tensor.Zeros(a.dtype, append(tensor.Shape{len(all)}, values.Shape()[1:]...)...)
	if err != nil {
		return err
	}
	counts := make([]int64, len(all))
	places := func(indices, each []int64) []int {
		at := make([]int, len(indices))
		for i, k := range indices {
			row, _ := slices.BinarySearch(all, k)
			counts[row] += each[i]
			at[i] = row * n
		}
		return at
	}
	if err := scatter.To(nil, sum, places(a.indices, a.counts), n, a.sum, scatter.Update); err != nil {
		return err
	}
	if err := scatter.To(nil, sum, places(indices, slices.Repeat([]int64{1}, len(indices))), n, values, scatter.Add); err != nil {
		return err
	}
	a.sum, a.indices, a.counts = sum, all, counts
	return nil
}

// takeSum waits for so many gradients and returns their mean or their sum. The
// accumulator begins anew, for the next step.
func takeSum(c *engine.Call) error {
	a, err := accumulatorIn(c, 2)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "the number of gradients")
	if err != nil {
		return err
	}
	if n <= 0 {
		return fmt.Errorf("%d gradients are wanted, not 1 or more", n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sparse != (c.Op() == "SparseAccumulatorTakeGradient") || c.Attrs().Type("dtype", a.dtype) != a.dtype {
		return fmt.Errorf("the %s holds %v, or is of another kind", a.what, a.dtype)
	}
	for a.count < n {
		if err := a.wait(c.Context(), "has too few gradients"); err != nil {
			return err
		}
	}
	if a.mean {
		if err := a.divide(); err != nil {
			return err
		}
	}
	if a.sparse {
		dense := a.dense
		if dense == nil {
			dense = make([]int64, len(a.sum.Shape()))
			for i, k := range a.sum.Shape() {
				dense[i] = int64(k)
			}
			dense[0] = -1
		}
		c.Set(0, tensor.Vector(a.indices...))
		c.Set(1, a.sum)
		c.Set(2, tensor.Vector(dense...))
	} else {
		c.Set(0, a.sum)
	}
	a.sum, a.indices, a.counts, a.dense, a.count = nil, nil, nil, nil, 0
	a.step++
	return nil
}

// divide turns the sum into a mean: of all gradients, or row by row of those that
// had the row.
func (a *accumulator) divide() error {
	if !a.sparse {
		by, err := tensor.Cast(tensor.Scalar(a.count), a.dtype)
		if err != nil {
			return err
		}
		return scatter.To(nil, a.sum, []int{0}, a.sum.Len(), by, scatter.Div)
	}
	n := a.sum.Len() / max(1, len(a.indices))
	for i, count := range a.counts {
		by, err := tensor.Cast(tensor.Scalar(count), a.dtype)
		if err != nil {
			return err
		}
		if err := scatter.To(nil, a.sum, []int{i * n}, n, by, scatter.Div); err != nil {
			return err
		}
	}
	return nil
}

func accumulated(c *engine.Call) error {
	a, err := accumulatorIn(c, 1)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Set(0, tensor.Scalar(int32(a.count)))
	return nil
}

func setStep(c *engine.Call) error {
	a, err := accumulatorIn(c, 2)
	if err != nil {
		return err
	}
	step, err := intIn(c, 1, "the global step")
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step = step
	return nil
}
