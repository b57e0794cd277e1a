package io

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ScalarSummary, HistogramSummary, MergeSummary, TensorSummary
// and TensorSummaryV2. Their bytes are those of TensorFlow's Summary messages;
// fields are in order.

// Fields of a Summary and of its values.
const (
	summaryValue   protowire.Number = 1 // of Summary
	valueTag       protowire.Number = 1
	valueSimple    protowire.Number = 2
	valueHistogram protowire.Number = 5
	valueNode      protowire.Number = 7
	valueTensor    protowire.Number = 8
	valueMetadata  protowire.Number = 9
)

// appendField appends a field of bytes.
func appendField(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

// textField returns a field with a text, and nothing for an empty one.
func textField(num protowire.Number, s string) []byte {
	if s == "" {
		return nil
	}
	return appendField(nil, num, []byte(s))
}

// scalarSummary returns a summary with one number for each tag.
func scalarSummary(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	tags, values := c.In(0), c.In(1)
	if tags.DType() != tensor.String || !tags.Shape().Equal(values.Shape()) {
		return fmt.Errorf("the tags are %v%v, the values %v", tags.DType(), tags.Shape(), values.Shape())
	}
	v, err := values.Float64s()
	if err != nil {
		return err
	}
	size := 0
	for _, tag := range tags.Strings() {
		size += len(tag) + 32
	}
	if err := c.Afford(3 * int64(size)); err != nil { // the message, as it grows, and its text
		return err
	}
	var out []byte
	for i, tag := range tags.Strings() {
		c.Check()
		value := textField(valueTag, tag)
		value = protowire.AppendFixed32(protowire.AppendTag(value, valueSimple, protowire.Fixed32Type), math.Float32bits(float32(v[i])))
		out = appendField(out, summaryValue, value)
	}
	c.Set(0, tensor.Scalar(string(out)))
	return nil
}

// mergeSummary joins summaries, which must have different tags.
func mergeSummary(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	seen := map[string]bool{}
	var out []byte
	for i := range c.NumIn() {
		if c.In(i).DType() != tensor.String {
			return fmt.Errorf("input %d is %v, not string", i, c.In(i).DType())
		}
		for _, s := range c.In(i).Strings() {
			for b := []byte(s); len(b) > 0; {
				num, typ, n := protowire.ConsumeField(b)
				if n < 0 {
					return fmt.Errorf("input %d holds no summary: %w", i, protowire.ParseError(n))
				}
				if num == summaryValue && typ == protowire.BytesType {
					_, _, head := protowire.ConsumeTag(b)
					value, _ := protowire.ConsumeBytes(b[head:])
					tag, err := tagOf(value)
					if err != nil {
						return err
					}
					if tag != "" && seen[tag] {
						return fmt.Errorf("the tag %q is in two summaries", tag)
					}
					seen[tag] = true
					out = appendField(out, summaryValue, value)
				}
				b = b[n:]
			}
		}
	}
	c.Set(0, tensor.Scalar(string(out)))
	return nil
}

// tagOf returns the tag of a Summary's value.
func tagOf(b []byte) (tag string, err error) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return "", fmt.Errorf("a summary's value is damaged: %w", protowire.ParseError(n))
		}
		if num == valueTag && typ == protowire.BytesType {
			_, _, head := protowire.ConsumeTag(b)
			v, _ := protowire.ConsumeBytes(b[head:])
			tag = string(v)
		}
		b = b[n:]
	}
	return tag, nil
}

// tensorField returns a TensorProto as TensorFlow's kernels write it into
// summaries.
func tensorField(c *engine.Call, t *tensor.Tensor) ([]byte, error) {
	size := t.Len() * t.DType().Size()
	if t.DType() == tensor.String {
		for _, s := range t.Strings() {
			size += len(s) + 8
		}
	}
	if err := c.Afford(4 * int64(size)); err != nil { // the message, what holds it, and their text
		return nil, err
	}
	m, err := tensorproto.EncodeContent(t)
	if err != nil {
		return nil, err
	}
	return m.Marshal(), nil
}

// tensorSummaryV2 returns a summary with a tensor, its tag and its metadata.
func tensorSummaryV2(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	tag, err := text(c, 0, "the tag")
	if err != nil {
		return err
	}
	metadata, err := text(c, 2, "the metadata")
	if err != nil {
		return err
	}
	t, err := tensorField(c, c.In(1))
	if err != nil {
		return err
	}
	c.Check() // each step copies the tensor
	value := textField(valueTag, tag)
	value = appendField(appendField(value, valueTensor, t), valueMetadata, []byte(metadata))
	c.Check()
	c.Set(0, tensor.Scalar(string(appendField(nil, summaryValue, value))))
	return nil
}

// tensorSummary returns a summary with a tensor under the name of its node.
func tensorSummary(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	t, err := tensorField(c, c.In(0))
	if err != nil {
		return err
	}
	name := c.Node().Name
	if name == "" {
		name = c.Op() // as TensorFlow names ops that run outside of graphs
	}
	c.Check()
	value := appendField(textField(valueNode, name), valueTensor, t)
	c.Check()
	c.Set(0, tensor.Scalar(string(appendField(nil, summaryValue, value))))
	return nil
}

// bounds are the upper ends of the buckets of TensorFlow's histograms: 1e-12 times the powers of
// 1.1, up to 1e20, then the largest float64; zero; and their negatives.
var bounds = func() []float64 {
	var up []float64
	for v := 1e-12; v < 1e20; v *= 1.1 {
		up = append(up, v)
	}
	up = append(up, math.MaxFloat64)
	out := make([]float64, 0, 2*len(up)+1)
	for i := len(up) - 1; i >= 0; i-- {
		out = append(out, -up[i])
	}
	return append(append(out, 0), up...)
}()

// histogram counts values by TensorFlow's buckets and returns a HistogramProto. Its fields 1 to 7
// are min, max, num, sum, sum_squares, bucket_limit and bucket.
func histogram(values []float64) ([]byte, error) {
	low, high := math.MaxFloat64, -math.MaxFloat64
	var sum, squares float64
	buckets := make([]float64, len(bounds))
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("a histogram can't hold %v", v)
		}
		at, end := 0, len(bounds)
		for at < end { // the first bound above v
			if mid := (at + end) / 2; bounds[mid] > v {
				end = mid
			} else {
				at = mid + 1
			}
		}
		buckets[min(at, len(bounds)-1)]++
		low, high = min(low, v), max(high, v)
		sum += v
		squares += v * v
	}
	double := func(b []byte, num protowire.Number, v float64) []byte {
		if math.Float64bits(v) == 0 {
			return b
		}
		return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), math.Float64bits(v))
	}
	var out, limits, counts []byte
	out = double(out, 1, low)
	out = double(out, 2, high)
	out = double(out, 3, float64(len(values)))
	out = double(out, 4, sum)
	out = double(out, 5, squares)
	for i := 0; i < len(buckets); {
		end, count := bounds[i], buckets[i]
		i++
		if count <= 0 { // a run of empty buckets is one
			for i < len(buckets) && buckets[i] <= 0 {
				end, count = bounds[i], buckets[i]
				i++
			}
		}
		limits = protowire.AppendFixed64(limits, math.Float64bits(end))
		counts = protowire.AppendFixed64(counts, math.Float64bits(count))
	}
	if len(limits) == 0 {
		limits = protowire.AppendFixed64(nil, math.Float64bits(math.MaxFloat64))
		counts = protowire.AppendFixed64(nil, 0)
	}
	return appendField(appendField(out, 6, limits), 7, counts), nil
}

// histogramSummary returns a summary with the distribution of values.
func histogramSummary(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	tag, err := text(c, 0, "the tag")
	if err != nil {
		return err
	}
	s, err := histogramOf(tag, c.In(1))
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(string(s)))
	return nil
}

// histogramOf returns a Summary with the distribution of values.
func histogramOf(tag string, t *tensor.Tensor) ([]byte, error) {
	v, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	h, err := histogram(v)
	if err != nil {
		return nil, err
	}
	return appendField(nil, summaryValue, appendField(textField(valueTag, tag), valueHistogram, h)), nil
}
