package layers

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Discretization turns numbers into the numbers of the bins that contain them. The
// bins' boundaries are a setting, or come from data by Adapt.
type Discretization struct {
	base.Layer
	// BinBoundaries are the lower bounds of the bins 1, 2, …, in order. Bin 0 has none.
	// Default: Adapt finds them; before that there is one bin.
	BinBoundaries []float64
	// NumBins is the number of bins that Adapt makes. Default: none, and no Adapt.
	NumBins *int
	// Epsilon is the error of Adapt's quantiles, as a part of the data. Default: 0.01.
	Epsilon *float64 `keras:",default=0.01"`
	// OutputMode is OutputInt, OutputOneHot, OutputMultiHot or OutputCount. Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool

	// Summary has sample values and their weights that Adapt has found, float32 [2, n]. It is
	// nil until the layer is built, and if BinBoundaries is set.
	Summary *trackable.Variable `cairn:"-"`
}

// CompleteConfig sets the type of the outputs.
func (d *Discretization) CompleteConfig() { d.DType = categoryType(d.DType, d.OutputMode) }

// EncodeConfig returns the config.
func (d *Discretization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	fields, err := e.Fields(d)
	if err != nil || !e.Learned() || d.Summary == nil {
		return fields, err
	}
	boundaries, err := d.boundaries()
	if err != nil || boundaries == nil {
		return fields, err
	}
	for i := range fields {
		switch f := &fields[i]; f.Name {
		case "bin_boundaries":
			f.Value = boundaries
		case "num_bins": // the boundaries determine their number
			f.Value = nil
		}
	}
	return fields, nil
}

// Weights lists the summary.
func (d *Discretization) Weights(base.Shapes) ([]base.Weight, error) {
	err := checkMode(d.OutputMode, d.Sparse, OutputInt, OutputOneHot, OutputMultiHot, OutputCount)
	if err == nil {
		err = checkNumbers(d.DType, d.OutputMode)
	}
	switch {
	case err != nil:
		return nil, err
	case d.NumBins != nil && (*d.NumBins < 0 || d.BinBoundaries != nil):
		return nil, fmt.Errorf("NumBins is %d with %d BinBoundaries, want 0 or more without boundaries", *d.NumBins, len(d.BinBoundaries))
	case !(*d.Epsilon > 0 && *d.Epsilon <= 1):
		return nil, fmt.Errorf("the field Epsilon is %v, want more than 0 and at most 1", *d.Epsilon)
	case !slices.IsSorted(d.BinBoundaries):
		return nil, fmt.Errorf("BinBoundaries is not in order")
	case d.BinBoundaries != nil:
		return nil, nil
	}
	return []base.Weight{{To: &d.Summary, Edge: "summary", Shape: tensor.Shape{2, 0}, Open: tensor.Shape{2, -1},
		DType: tensor.Float32, Init: initializers.Zeros{}, NotTrainable: true}}, nil
}

// TakesSparse marks a layer that takes sparse inputs.
func (d *Discretization) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (d *Discretization) TakesRagged() {}

// Call returns the bins of x.
func (d *Discretization) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute returns the bins of x. A function that is traced keeps the boundaries that the
// layer has then.
func (d *Discretization) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	boundaries, err := d.boundaries()
	if err != nil {
		return s.Fail("Discretization", err)
	}
	bins := base.MapElements(s, x, func(x *ops.Value) *ops.Value { return raw.Bucketize(s, x, boundaries) })
	e := &encoding{mode: d.OutputMode, depth: len(boundaries) + 1, dtype: d.DType.Compute(), sparse: d.Sparse}
	return e.encode(s, "Discretization", bins)
}

// boundaries returns the setting or those of the summary.
func (d *Discretization) boundaries() ([]float64, error) {
	if d.Summary == nil {
		return d.BinBoundaries, nil
	}
	var m summary
	ops.InitScope(func() { m = summaryOf(d.Summary.Load()) })
	switch {
	case len(m.values) == 0:
		return nil, nil
	case d.NumBins == nil || *d.NumBins == 0:
		return nil, fmt.Errorf("NumBins is not set, so that data make no boundaries")
	}
	m = m.compressed(1 / float64(*d.NumBins))
	out := make([]float64, 0, len(m.values))
	for _, v := range m.values[:len(m.values)-1] {
		out = append(out, float64(v))
	}
	return out, nil
}

// Adapt finds the boundaries of all batches, so that each bin contains about as many
// values, and forgets earlier ones. The layer is built for the first batch.
func (d *Discretization) Adapt(s *ops.Scope, batches iter.Seq[*ops.Value]) {
	const layer = "Discretization"
	if d.BinBoundaries != nil {
		s.Fail(layer, fmt.Errorf("BinBoundaries is a setting, so that there is nothing to adapt; NumBins sets a number of bins"))
		return
	}
	var all summary
	first := true
	for x := range batches {
		if first {
			if err := base.Build(s, d, x.Shape()); err != nil {
				s.Fail(layer, err)
				return
			}
			setAnySizes(&d.Layer, x)
			first = false
		}
		t, err := ops.Cast(s, x, tensor.Float32).Tensor()
		if err != nil {
			s.Fail(layer, err)
			return
		}
		all = merged(summarized(tensor.Values[float32](t), *d.Epsilon), all).compressed(*d.Epsilon)
	}
	if first {
		return
	}
	t, err := tensor.New(slices.Concat(all.values, all.weights), 2, len(all.values))
	if err == nil {
		err = d.Summary.Store(t)
	}
	if err == nil {
		_, err = d.boundaries()
	}
	if err != nil {
		s.Fail(layer, err)
	}
}

// setAnySizes makes the input's shape in the config one of x's rank, as adapting does in
// tf_keras.
func setAnySizes(l *base.Layer, x *ops.Value) {
	if l.BatchInputShape == nil {
		l.BatchInputShape = slices.Repeat(base.Shape{-1}, max(x.Fact().Shape.Rank(), 0))
	}
}

// summary has values in order, and how many values of the data each represents.
type summary struct{ values, weights []float32 }

// summaryOf returns the rows of a tensor [2, n].
func summaryOf(t *tensor.Tensor) summary {
	v := tensor.Values[float32](t)
	return summary{v[:len(v)/2], v[len(v)/2:]}
}

// summarized returns about 1/epsilon values at equal distances in the sorted data. summarized, merged
// and compressed compute as tf_keras's functions summarize, merge_summaries and compress, in
// float32 where numpy does, so that the boundaries are equal.
func summarized(data []float32, epsilon float64) (out summary) {
	sorted := slices.Sorted(slices.Values(data))
	start := int(float32(len(sorted)) / float32(1/epsilon))
	step := max(start, 1)
	for i := start; i < len(sorted); i += step {
		out.values = append(out.values, sorted[i])
		out.weights = append(out.weights, float32(step))
	}
	return out
}

// merged joins two summaries.
func merged(a, b summary) (out summary) {
	order := make([]int, len(a.values)+len(b.values))
	values, weights := slices.Concat(a.values, b.values), slices.Concat(a.weights, b.weights)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		out.values = append(out.values, values[i])
		out.weights = append(out.weights, weights[i])
	}
	return out
}

// compressed returns a summary of about 1/epsilon values, if this one has more.
func (m summary) compressed(epsilon float64) (out summary) {
	if float64(len(m.values))*epsilon < 1 {
		return m
	}
	sums := make([]float64, len(m.weights)) // of float32, as numpy's cumsum
	var sum float32
	for i, w := range m.weights {
		sum += w
		sums[i] = float64(sum)
	}
	parts, values := make([]float64, len(sums)), make([]float64, len(sums))
	for i := range sums {
		parts[i] = float64(float32(sums[i]) / sum)
		values[i] = float64(m.values[i])
	}
	before := 0.0
	for i := range int(math.Ceil(1 / epsilon)) {
		part := epsilon + float64(i)*epsilon
		at := interpolated(part, parts, sums)
		out.values = append(out.values, float32(interpolated(part, parts, values)))
		out.weights = append(out.weights, float32(at-before))
		before = at
	}
	return out
}

// interpolated returns the value at x of the line through the points (xs, ys), as numpy's
// interp.
func interpolated(x float64, xs, ys []float64) float64 {
	last := len(xs) - 1
	switch {
	case x < xs[0]:
		return ys[0]
	case x >= xs[last]:
		return ys[last]
	}
	i, _ := slices.BinarySearchFunc(xs, x, func(a, x float64) int {
		if a > x {
			return 1
		}
		return -1
	})
	i-- // the last point that is not after x
	slope := (ys[i+1] - ys[i]) / (xs[i+1] - xs[i])
	return slope*(x-xs[i]) + ys[i]
}
