package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// punctuation are the characters that TextVectorization removes, a regular expression:
// DEFAULT_STRIP_REGEX of tf_keras's text_vectorization.py.
const punctuation = "[!\"#$%&()\\*\\+,-\\./:;<=>?@\\[\\\\\\]^_`{|}~\\']"

// tokens standardizes texts, splits them, and joins neighbors.
func (l *TextVectorization) tokens(s *ops.Scope, x *ops.Value) *ops.Value {
	const layer = "TextVectorization"
	if x.DType() != tensor.String {
		return s.Fail(layer, fmt.Errorf("the input is of %v, want strings", x.DType()))
	}
	if l.StandardizeWith != nil {
		x = l.StandardizeWith(s, x)
	} else {
		x = base.MapElements(s, x, func(x *ops.Value) *ops.Value { return l.standard(s, x) })
	}
	if l.Split != None || l.SplitWith != nil {
		ragged, isRagged := base.RaggedOf(x)
		shape := x.Fact().Shape
		rank := shape.Rank()
		switch {
		case isRagged:
			return s.Fail(layer, fmt.Errorf("the input has %d ragged dimensions, want a dense one to split", len(ragged.Splits)))
		case rank < 0 || rank > 1 && shape.Dim(rank-1) != 1:
			return s.Fail(layer, fmt.Errorf("the input has the shape %v, want a vector or a last dimension of 1", shape))
		case rank > 1:
			x = ops.Squeeze(s, x, -1)
		}
		switch {
		case l.SplitWith != nil:
			x = l.SplitWith(s, x)
		case l.Split == "character":
			x = perRow(s, x, characters)
		default:
			x = perRow(s, x, wordsOf)
		}
	}
	widths, err := l.NGrams.widths()
	if err != nil {
		return s.Fail(layer, err)
	}
	if widths != nil && s.Err() == nil {
		x = joined(s, x, widths)
	}
	return x
}

// standard returns texts in small letters and without punctuation, by the setting.
func (l *TextVectorization) standard(s *ops.Scope, x *ops.Value) *ops.Value {
	if l.Standardize == "lower" || l.Standardize == "lower_and_strip_punctuation" {
		x = raw.StringLower(s, x, nil)
	}
	if l.Standardize == "strip_punctuation" || l.Standardize == "lower_and_strip_punctuation" {
		x = raw.StaticRegexReplace(s, x, punctuation, "", nil)
	}
	return x
}

// perRow splits each text of a tensor by f, which takes a vector. The tokens of a scalar are
// a vector, those of others are ragged.
func perRow(s *ops.Scope, x *ops.Value, f func(s *ops.Scope, x *ops.Value) base.Ragged) *ops.Value {
	shape := x.Fact().Shape
	if shape.Rank() == 0 {
		return f(s, ops.Reshape(s, x, 1)).Values
	}
	out := f(s, ops.Reshape(s, x, -1))
	sizes := ops.Cast(s, ops.Shape(s, x), tensor.Int64)
	for at := shape.Rank() - 1; at > 0; at-- { // outer dimensions have rows of one length
		rows := ops.Prod(s, ops.StridedSlice(s, sizes, ops.To(at)))
		size := ops.StridedSlice(s, sizes, ops.At(at))
		splits := ops.Mul(s, ops.Range(s, int64(0), ops.Add(s, rows, int64(1)), int64(1)), size)
		out.Splits = append([]*ops.Value{splits}, out.Splits...)
	}
	return out.Value(s)
}

// wordsOf splits texts at white space.
func wordsOf(s *ops.Scope, x *ops.Value) base.Ragged {
	indices, values, shape := raw.StringSplitV2(s, x, "", nil)
	rows := ops.StridedSlice(s, indices, ops.Whole(), ops.At(0))
	count := raw.DenseBincount(s, rows, ops.StridedSlice(s, shape, ops.At(0)), ops.Zeros(s, tensor.Int64, 0), nil)
	splits := ops.Concat(s, []ops.Input{[]int64{0}, ops.CumSum(s, count, 0)}, 0)
	return base.Ragged{Values: values, Splits: []*ops.Value{splits}}
}

// characters splits texts of UTF-8 into their characters.
func characters(s *ops.Scope, x *ops.Value) base.Ragged {
	splits, codes := raw.UnicodeDecode(s, x, "UTF-8", nil)
	each := ops.Range(s, int64(0), ops.Add(s, ops.Cast(s, ops.Size(s, codes), tensor.Int64), int64(1)), int64(1))
	return base.Ragged{Values: raw.UnicodeEncode(s, codes, each, "UTF-8", nil), Splits: []*ops.Value{splits}}
}

// joined joins neighbors in the rows of tokens.
func joined(s *ops.Scope, x *ops.Value, widths []int64) *ops.Value {
	grams := func(values, splits *ops.Value) (*ops.Value, *ops.Value) {
		return raw.StringNGrams(s, values, splits, " ", widths, "", "", 0, false)
	}
	if r, ok := base.RaggedOf(x); ok {
		last := len(r.Splits) - 1
		values, splits := grams(r.Values, r.Splits[last])
		return base.Ragged{Values: values, Splits: append(append([]*ops.Value(nil), r.Splits[:last]...), splits)}.Value(s)
	}
	rank := x.Fact().Shape.Rank()
	if rank < 1 {
		return s.Fail("TextVectorization", fmt.Errorf("tokens have the shape %v, want 1 dimension or more to join them", x.Fact().Shape))
	}
	sizes := ops.Cast(s, ops.Shape(s, x), tensor.Int64)
	size := ops.StridedSlice(s, sizes, ops.At(-1))
	outer := ops.StridedSlice(s, sizes, ops.To(-1))
	splits := ops.Mul(s, ops.Range(s, int64(0), ops.Add(s, ops.Prod(s, outer), int64(1)), int64(1)), size)
	values, _ := grams(ops.Reshape(s, x, -1), splits)
	return ops.ReshapeTo(s, values, ops.Concat(s, []ops.Input{outer, []int64{-1}}, 0))
}
