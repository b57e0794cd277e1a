package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// parseRules returns the rules of ops that read serialized messages and texts.
func parseRules() map[string]Rule {
	return map[string]Rule{
		"ParseExample": parseExample, "ParseExampleV2": parseExampleV2, "ParseSingleExample": parseSingleExample,
		"ParseSequenceExample": parseSequence, "ParseSequenceExampleV2": parseSequence, "ParseSingleSequenceExample": parseSequence,
		"DecodeJSONExample": unchanged, "DecodeCompressed": unchanged,
		"DecodeRaw": decodeRaw, "DecodePaddedRaw": decodeRaw, "DecodeCSV": decodeCSV,
		"DecodeProtoV2": decodeProto, "EncodeProto": encodeProto,
		"ParseTensor": nothing, "SerializeTensor": scalarOut,
	}
}

func parseExample(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	n, err := c.vector(0)
	if err != nil {
		return err
	}
	return c.examples(graph.ShapeOf(n), exampleAttrs)
}

func parseExampleV2(c *Inference) error {
	if err := c.atLeast(5); err != nil {
		return err
	}
	for i := 2; i < 5; i++ {
		if _, err := c.vector(i); err != nil {
			return err
		}
	}
	s := c.shape(0)
	if s.HasRank() && s.Rank() > 1 {
		return fmt.Errorf("the examples have shape %v", s)
	}
	return c.examples(s, exampleAttrs)
}

func parseSingleExample(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	if err := c.scalar(0); err != nil {
		return err
	}
	return c.examples(graph.ShapeOf(), exampleAttrs)
}

// featureAttrs are the names of the attributes with the types and shapes of
// features.
type featureAttrs struct{ sparse, shapes, ragged string }

var (
	exampleAttrs = featureAttrs{"sparse_types", "dense_shapes", "ragged_value_types"}
	contextAttrs = featureAttrs{"context_sparse_types", "context_dense_shapes", "context_ragged_value_types"}
	listAttrs    = featureAttrs{"feature_list_sparse_types", "feature_list_dense_shapes", "feature_list_ragged_value_types"}
)

// parseSequence has the outputs of the context, as those of an Example, then those
// of the feature lists: one dimension more for the steps.
func parseSequence(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	batch := graph.ShapeOf()
	single := c.Op == "ParseSingleSequenceExample"
	switch c.Op {
	case "ParseSingleSequenceExample":
	case "ParseSequenceExample":
		n, err := c.vector(0)
		if err != nil {
			return err
		}
		batch = graph.ShapeOf(n)
	default:
		batch = c.shape(0)
		if batch.HasRank() && batch.Rank() > 1 {
			return fmt.Errorf("the examples have shape %v", batch)
		}
	}
	if err := c.examples(batch, contextAttrs); err != nil {
		return err
	}
	at := 3*len(c.Attrs.Types("context_sparse_types")) + len(c.Attrs.Types("Tcontext_dense")) + 2*len(c.Attrs.Types("context_ragged_value_types"))
	rank := graph.NewDim()
	if batch.HasRank() {
		rank = batch.Rank() + 2
	}
	sparse := len(c.Attrs.Types(listAttrs.sparse))
	for i := range sparse {
		n := graph.NewDim()
		c.setDims(at+i, n, rank)
		c.setDims(at+sparse+i, n)
		c.setDims(at+2*sparse+i, rank)
	}
	at += 3 * sparse
	dims := c.Attrs.Shapes(listAttrs.shapes)
	for i, s := range dims {
		c.set(at+i, batch.Concat(graph.ShapeOf(graph.NewDim())).Concat(s.Identified()))
		if !single {
			c.set(at+len(dims)+i, batch)
		}
	}
	at += 2 * len(dims)
	ragged := len(c.Attrs.Types(listAttrs.ragged))
	for i := range ragged {
		c.setDims(at+i, graph.NewDim())
		c.set(at+ragged+i, graph.OfRank(1))
		c.setDims(at+2*ragged+i, graph.NewDim())
	}
	return nil
}

// examples sets the shapes of the features of examples of shape batch.
func (c *Inference) examples(batch graph.PartialShape, attrs featureAttrs) error {
	rank := -1
	if batch.HasRank() {
		rank = batch.Rank() + 1
	}
	sparse := len(c.Attrs.Types(attrs.sparse))
	for i := range sparse {
		n, r := graph.NewDim(), rank
		if r < 0 {
			r = graph.NewDim()
		}
		c.setDims(i, n, r)
		c.setDims(sparse+i, n)
		c.setDims(2*sparse+i, r)
	}
	dims, at := c.Attrs.Shapes(attrs.shapes), 3*sparse
	if len(dims) > len(c.Out)-at {
		return fmt.Errorf("there are %d shapes for %d features", len(dims), max(len(c.Out)-at, 0))
	}
	for i, s := range dims {
		c.set(at+i, batch.Concat(s.Identified()))
	}
	at += len(dims)
	ragged := len(c.Attrs.Types(attrs.ragged))
	for i := range ragged {
		c.setDims(at+i, graph.NewDim())
		switch {
		case rank == 1:
			c.setDims(at+ragged+i, 0)
		case rank == 2:
			n, err := AddDims(batch.Dim(0), 1)
			if err != nil {
				return err
			}
			c.setDims(at+ragged+i, n)
		default:
			c.set(at+ragged+i, graph.OfRank(1))
		}
	}
	return nil
}

// decodeRaw infers one dimension more than the strings have, for the numbers in a
// string. DecodePaddedRaw has their length in bytes as input 1.
func decodeRaw(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	n := graph.NewDim()
	if d := c.Attrs.Type("out_type", 0); len(c.In) > 1 && d.Fixed() && d.Size() > 0 {
		length, ok := c.In[1].Int()
		if ok {
			if length <= 0 || length%int64(d.Size()) != 0 || length != int64(int(length)) {
				return fmt.Errorf("the length of %d bytes holds no %v", length, d)
			}
			n = int(length) / d.Size()
		}
	}
	if s := c.shape(0); s.HasRank() {
		c.set(0, s.Concat(graph.ShapeOf(n)))
	}
	return nil
}

// decodeCSV infers the records' shape for each field. Its default is a scalar,
// or a vector of one element or none.
func decodeCSV(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	for i := 1; i < len(c.In); i++ {
		if s := c.shape(i); s.HasRank() && (s.Rank() > 1 || s.Rank() == 1 && s.Dim(0) > 1) {
			return fmt.Errorf("the default of field %d has shape %v", i-1, s)
		}
		c.set(i-1, c.shape(0))
	}
	return nil
}

// decodeProto infers a count for each field, and values of an unknown number.
func decodeProto(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s := c.shape(0)
	if !s.HasRank() {
		return nil
	}
	c.set(0, graph.ShapeOf(append(s.Dims().Clone(), len(c.Out)-1)...))
	for i := 1; i < len(c.Out); i++ {
		c.set(i, graph.ShapeOf(append(s.Dims().Clone(), graph.NewDim())...))
	}
	return nil
}

// encodeProto infers a message for each row of the sizes, and of the values.
func encodeProto(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	var batch graph.PartialShape
	for i := range c.In {
		s := c.shape(i)
		if !s.HasRank() {
			continue
		}
		if s.Rank() == 0 {
			return fmt.Errorf("input %d is a scalar", i)
		}
		var err error
		if batch, err = batch.Merge(graph.ShapeOf(s.Dims()[:s.Rank()-1]...)); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	c.set(0, batch)
	return nil
}
