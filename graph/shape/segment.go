package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// SortedSegments returns the shape of reductions of rows of a tensor of shape s
// by ids, a vector of shape is in ascending order: one row for each id up to
// the last.
func SortedSegments(s, is tensor.Shape, ids []int64) (tensor.Shape, error) {
	if len(s) < 1 || len(is) != 1 || len(ids) != s[0] {
		return nil, fmt.Errorf("the segment ids have shape %v; a vector as long as dimension 0 of the data's %v is needed", is, s)
	}
	last := int64(-1)
	for i, id := range ids {
		switch {
		case id < 0 || id != int64(int(id)):
			return nil, fmt.Errorf("the segment id %d at %d is below 0 or too large", id, i)
		case id < last:
			return nil, fmt.Errorf("the segment ids are not increasing: %d after %d", id, last)
		}
		last = id
	}
	return append(tensor.Shape{int(last + 1)}, s[1:]...), nil
}

func sortedSegments(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.minRank(0, 1)
	if err != nil {
		return err
	}
	is, err := c.ranked(1, 1)
	if err != nil || !s.HasRank() {
		return err
	}
	if _, ok := graph.MergeDim(s.Dim(0), is.Dim(0)); !ok {
		return fmt.Errorf("there are %d segment ids for %d rows", is.Dim(0), s.Dim(0))
	}
	dims := s.Dims().Clone()
	dims[0] = graph.NewDim()
	if ids, ok := c.knownInts(1); ok && s.Dim(0) == len(ids) {
		if dims, err = SortedSegments(s.Dims(), is.Dims(), ids); err != nil {
			return err
		}
	}
	c.setDims(0, dims...)
	return nil
}

// nthElement loses the last dimension.
func nthElement(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.minRank(0, 1)
	if err != nil {
		return err
	}
	n, err := c.size(1, "n")
	if err != nil || !s.HasRank() {
		return err
	}
	if d := s.Dim(-1); n >= 0 && d >= 0 && n >= d {
		return fmt.Errorf("n is %d, the last dimension has %d elements", n, d)
	}
	c.setDims(0, s.Dims()[:s.Rank()-1]...)
	return nil
}

// unravelIndex has a row for each dimension.
func unravelIndex(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return err
	}
	s := c.shape(0)
	switch {
	case !s.HasRank():
	case s.Rank() == 0:
		c.setDims(0, n)
	case s.Rank() == 1:
		c.setDims(0, n, s.Dim(0))
	default:
		return fmt.Errorf("the indices have shape %v, neither a scalar's nor a vector's", s)
	}
	return nil
}

// Cross checks the shapes of a cross product. Both must be equal, with vectors
// of three elements in the last dimension.
func Cross(a, b graph.PartialShape) (graph.PartialShape, error) {
	s, err := a.Merge(b)
	if err != nil {
		return s, fmt.Errorf("the shapes %v and %v differ", a, b)
	}
	if s.HasRank() && (s.Rank() == 0 || s.Dim(-1) >= 0 && s.Dim(-1) != 3) {
		return s, fmt.Errorf("the vectors of shape %v need 3 elements in the last dimension", s)
	}
	return s, nil
}

func cross(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := Cross(c.shape(0), c.shape(1))
	if err == nil {
		c.set(0, s)
	}
	return err
}

func histogram(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if s := c.shape(1); !s.Compatible(graph.ShapeOf(2)) {
		return fmt.Errorf("the range has shape %v, not [2]", s)
	}
	n, err := c.size(2, "the number of bins")
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("the number of bins is 0")
	}
	c.setDims(0, n)
	return nil
}

// tileGrad divides each size by how often it was repeated.
func tileGrad(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	by, ok := c.knownInts(1)
	if !ok {
		c.set(0, graph.OfRank(len(s)))
		return nil
	}
	out, err := TileGrad(s, by)
	if err == nil {
		c.setDims(0, out...)
	}
	return err
}

// TileGrad returns the shape of a tensor that has shape s after by repetitions
// along each dimension.
func TileGrad(s tensor.Shape, by []int64) (tensor.Shape, error) {
	if len(by) != len(s) {
		return nil, fmt.Errorf("there are %d multiples for %d dimensions", len(by), len(s))
	}
	out := make(tensor.Shape, len(s))
	for i, n := range by {
		if n <= 0 || n != int64(int(n)) {
			return nil, fmt.Errorf("multiple %d is %d, not a positive number", i, n)
		}
		var err error
		if out[i], err = DivDims(s[i], int(n)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inplace keeps the tensor's shape; the rows that change it are as many as the
// indices.
func inplace(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	return nil
}

// isotonic has values and segments of the input's shape.
func isotonic(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	c.set(1, c.shape(0))
	return nil
}

func dimMap(c *Inference) error {
	if err := unchanged(c); err != nil {
		return err
	}
	return Formats(c.Attrs)
}

// Formats checks the attributes src_format and dst_format: two orders of the
// same distinct letters.
func Formats(a graph.Attrs) error {
	from, to := a.String("src_format", "NHWC"), a.String("dst_format", "NCHW")
	if len(from) != len(to) || len(from) < 4 || len(from) > 5 {
		return fmt.Errorf("src_format is %q and dst_format %q; both need 4 or 5 letters", from, to)
	}
	at := map[rune]int{}
	for _, f := range []string{from, to} {
		for _, r := range f {
			at[r]++
		}
	}
	for r, n := range at {
		if n != 2 {
			return fmt.Errorf("src_format %q and dst_format %q aren't orders of the same letters (%c)", from, to, r)
		}
	}
	return nil
}

// segmentRules returns the rules of reductions over sorted segments, and of ops that fit no other file.
func segmentRules() map[string]Rule {
	return join(
		rules(sortedSegments, "SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"),
		rules(inplace, "InplaceUpdate", "InplaceAdd", "InplaceSub"),
		rules(dimMap, "DataFormatDimMap", "DataFormatVecPermute"),
		rules(nothing, "ResourceStridedSliceAssign"),
		rules(scalarOut, "ToBool", "Fact"),
		rules(biasAdd, "BiasAddV1"),
		map[string]Rule{
			"NthElement": nthElement, "UnravelIndex": unravelIndex, "Cross": cross, "HistogramFixedWidth": histogram, "TileGrad": tileGrad,
			"IsotonicRegression": isotonic, "AdjustContrast": unchanged,
		})
}
