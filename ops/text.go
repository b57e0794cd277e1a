package ops

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// StringOptions are the settings of functions that use the characters of strings.
type StringOptions struct {
	// UTF8 takes strings as UTF-8: lengths and places count characters, and letters are
	// those of all languages. Default: bytes, and the letters of ASCII.
	UTF8 bool
}

func (o *StringOptions) unit() graph.Attrs {
	if o.UTF8 {
		return graph.Attrs{graph.String("unit", "UTF8_CHAR")}
	}
	return nil
}

func (o *StringOptions) encoding() graph.Attrs {
	if o.UTF8 {
		return graph.Attrs{graph.String("encoding", "utf-8")}
	}
	return nil
}

// StringJoin joins the strings of a list of tensors element by element, with separator between
// them. Scalars are used for every element.
func StringJoin(s *Scope, xs Input, separator string) *Value {
	l, ok := s.list(xs)
	if !ok || len(l) == 0 {
		return s.Fail("StringJoin", errors.New("takes a list of at least one input"))
	}
	return s.Emit1("StringJoin", graph.Attrs{graph.String("separator", separator)}, l...)
}

// StringLength returns the lengths of strings as int32.
func StringLength(s *Scope, x Input, o ...*StringOptions) *Value {
	return s.Emit1("StringLength", last(o).unit(), x)
}

// Substr returns the part of each string that begins at pos and has at most length units.
// A negative pos counts from the end. A pos outside of a string is an error.
func Substr(s *Scope, x, pos, length Input, o ...*StringOptions) *Value {
	return s.Emit1("Substr", last(o).unit(), x, pos, length)
}

// Lower makes the letters of strings lower case.
func Lower(s *Scope, x Input, o ...*StringOptions) *Value {
	return s.Emit1("StringLower", last(o).encoding(), x)
}

// Upper makes the letters of strings upper case.
func Upper(s *Scope, x Input, o ...*StringOptions) *Value {
	return s.Emit1("StringUpper", last(o).encoding(), x)
}

// Strip removes white space of ASCII from both ends of strings.
func Strip(s *Scope, x Input) *Value { return s.Emit1("StringStrip", nil, x) }

// RegexReplaceOptions are the settings of [RegexReplace].
type RegexReplaceOptions struct {
	// First replaces the first match of each string alone. Default: all matches.
	First bool
}

// RegexReplace replaces each match of pattern, a regular expression in RE2's syntax, by
// rewrite, in which \1 to \9 are the groups and \0 is the whole match.
func RegexReplace(s *Scope, x, pattern, rewrite Input, o ...*RegexReplaceOptions) *Value {
	return s.Emit1("RegexReplace", graph.Attrs{graph.Bool("replace_global", !last(o).First)}, x, pattern, rewrite)
}

// RegexFullMatch reports for each string whether all of it matches pattern, a regular expression
// in RE2's syntax.
func RegexFullMatch(s *Scope, x, pattern Input) *Value {
	return s.Emit1("RegexFullMatch", nil, x, pattern)
}

// ToNumber reads strings as numbers of type d: int32, int64, float32 or float64. A string
// that is no number is an error.
func ToNumber(s *Scope, x Input, d tensor.DType) *Value {
	return s.Emit1("StringToNumber", graph.Attrs{graph.Type("out_type", d)}, x)
}

// AsStringOptions are the settings of [AsString].
type AsStringOptions struct {
	// Precision is the number of digits after the point of a floating number. Default nil: 6.
	Precision *int
	// Scientific writes floating numbers with an exponent. Default false.
	Scientific bool
	// Shortest writes floating numbers with or without an exponent, whichever is shorter.
	// Default false.
	Shortest bool
	// Width is the least number of bytes; shorter texts are filled up on the left.
	// Default 0.
	Width int
	// Fill is the byte that fills: " " or "0". Default " ".
	Fill string
}

// AsString writes numbers and booleans as strings.
func AsString(s *Scope, x Input, o ...*AsStringOptions) *Value {
	opts := last(o)
	var attrs graph.Attrs
	if opts.Precision != nil {
		attrs = append(attrs, graph.Int("precision", int64(*opts.Precision)))
	}
	if opts.Width > 0 {
		attrs = append(attrs, graph.Int("width", int64(opts.Width)))
	}
	attrs = append(attrs, graph.Bool("scientific", opts.Scientific), graph.Bool("shortest", opts.Shortest), graph.String("fill", opts.Fill))
	return s.Emit1("AsString", attrs, x)
}

// ToHashBucketFast numbers strings from 0 to buckets-1 by a hash, as int64. It is quick,
// but an attacker can choose strings that collide.
func ToHashBucketFast(s *Scope, x Input, buckets int) *Value {
	return s.Emit1("StringToHashBucketFast", graph.Attrs{graph.Int("num_buckets", int64(buckets))}, x)
}

// ToHashBucketStrong numbers strings from 0 to buckets-1 by a hash with a secret key, as
// int64.
func ToHashBucketStrong(s *Scope, x Input, buckets int, key [2]int64) *Value {
	return s.Emit1("StringToHashBucketStrong", graph.Attrs{graph.Int("num_buckets", int64(buckets)), graph.Ints("key", key[:]...)}, x)
}

// ToHashBucket numbers strings from 0 to buckets-1 by the hash of TensorFlow's first version,
// as int64.
func ToHashBucket(s *Scope, x Input, buckets int) *Value {
	return s.Emit1("StringToHashBucket", graph.Attrs{graph.Int("num_buckets", int64(buckets))}, x)
}

// StringSplitOptions are the settings of [StringSplit].
type StringSplitOptions struct {
	// MaxSplit is how often a string is cut at most. Default 0: wherever the separator is.
	MaxSplit int
}

// StringSplit cuts the strings of a vector at a separator; an empty one means any white
// space. Row i of the result has the parts of string i. A scalar is one row; in a trace that
// doesn't know x's rank, x must be a vector.
func StringSplit(s *Scope, x Input, separator string, o ...*StringSplitOptions) Ragged {
	most := int64(-1)
	if m := last(o).MaxSplit; m > 0 {
		most = int64(m)
	}
	return s.splits("StringSplitV2", graph.Attrs{graph.Int("maxsplit", most)}, x, separator)
}

// BytesSplit cuts the strings of a vector into their bytes. A scalar is one row.
func BytesSplit(s *Scope, x Input) Ragged {
	return s.splits("StringSplit", graph.Attrs{graph.Bool("skip_empty", false)}, x, "")
}

// splits runs an op that returns the parts of strings as a sparse matrix.
func (s *Scope) splits(op string, attrs graph.Attrs, x Input, separator string) Ragged {
	v := Const(s, x)
	if !s.alive() {
		return Ragged{s.failed(), s.failed()}
	}
	shape := s.shapeOf(v)
	if shape.HasRank() && shape.Rank() > 1 {
		f := s.Fail(op, fmt.Errorf("takes a scalar or a vector of strings (got shape %v); Reshape makes a vector", shape))
		return Ragged{f, f}
	}
	if shape.HasRank() && shape.Rank() == 0 {
		v = ExpandDims(s, v, 0)
	}
	out := s.EmitN(3, op, attrs, v, separator)
	return RaggedOfRows(s, out[1], StridedSlice(s, out[0], Whole(), At(0)), StridedSlice(s, out[2], At(0)))
}

// ReduceJoin joins the strings along axes, with separator between them; no axes are all of
// them.
func ReduceJoin(s *Scope, x Input, separator string, axes ...int) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	attrs := graph.Attrs{graph.String("separator", separator)}
	if len(axes) > 0 {
		return s.Emit1("ReduceJoin", attrs, v, s.vec32(axes...))
	}
	shape := s.shapeOf(v)
	if !shape.HasRank() {
		return s.Emit1("ReduceJoin", attrs, v, Range(s, Sub(s, Rank(s, v), 1), -1, -1))
	}
	// The last axis comes first, so that strings stay in their order.
	for i := shape.Rank() - 1; i >= 0; i-- {
		axes = append(axes, i)
	}
	return s.Emit1("ReduceJoin", attrs, v, s.vec32(axes...))
}

// UnsortedSegmentJoin joins the strings of x that have the same number in ids, with separator
// between them. The result has n strings.
func UnsortedSegmentJoin(s *Scope, x, ids Input, n int, separator string) *Value {
	return s.Emit1("UnsortedSegmentJoin", graph.Attrs{graph.String("separator", separator)}, x, ids, s.scalar32(n))
}

// NGramsOptions are the settings of [NGrams].
type NGramsOptions struct {
	// Separator is put between the strings of an n-gram. Default " ".
	Separator *string
	// LeftPad and RightPad are put before and after each row. Default: nothing is put.
	LeftPad, RightPad string
	// PadWidth is how many pads are put at most. Default 0: one less than the n-gram's
	// width.
	PadWidth int
	// KeepShort makes one n-gram of a row that is shorter than all widths. Default false.
	KeepShort bool
}

// NGrams returns the n-grams of the rows of strings: each run of that many strings, joined. Widths
// follow each other within a row.
func NGrams(s *Scope, x Ragged, widths []int, o ...*NGramsOptions) Ragged {
	opts := last(o)
	separator, pad := " ", int64(0)
	if opts.Separator != nil {
		separator = *opts.Separator
	}
	if opts.LeftPad != "" || opts.RightPad != "" {
		if pad = -1; opts.PadWidth > 0 {
			pad = int64(opts.PadWidth)
		}
	}
	out := s.EmitN(2, "StringNGrams", graph.Attrs{
		graph.String("separator", separator), graph.Ints("ngram_widths", ints64(widths)...), graph.String("left_pad", opts.LeftPad),
		graph.String("right_pad", opts.RightPad), graph.Int("pad_width", pad), graph.Bool("preserve_short_sequences", opts.KeepShort),
	}, x.Values, x.RowSplits)
	return Ragged{out[0], out[1]}
}

// StringFormatOptions are the settings of [StringFormat].
type StringFormatOptions struct {
	// Placeholder is the text in the template that a tensor replaces. Default "{}".
	Placeholder string
	// Summarize is how many elements are written at each end of a dimension; -1 writes all.
	// Default 0: 3.
	Summarize int
}

// StringFormat returns the template with the tensors of a list in the place of its
// placeholders, written as Python writes them.
func StringFormat(s *Scope, template string, xs Input, o ...*StringFormatOptions) *Value {
	l, ok := s.list(xs)
	if !ok {
		return s.Fail("StringFormat", errors.New("takes a list of inputs"))
	}
	opts := *last(o)
	if opts.Placeholder == "" {
		opts.Placeholder = "{}"
	}
	if opts.Summarize == 0 {
		opts.Summarize = 3
	}
	return s.Emit1("StringFormat", graph.Attrs{
		graph.String("template", template), graph.String("placeholder", opts.Placeholder), graph.Int("summarize", int64(opts.Summarize)),
	}, l...)
}

// EncodeBase64Options are the settings of [EncodeBase64].
type EncodeBase64Options struct {
	// Pad ends texts with "=", so that their lengths are multiples of 4. Default false.
	Pad bool
}

// EncodeBase64 writes strings in base64 with the alphabet for URLs.
func EncodeBase64(s *Scope, x Input, o ...*EncodeBase64Options) *Value {
	return s.Emit1("EncodeBase64", graph.Attrs{graph.Bool("pad", last(o).Pad)}, x)
}

// DecodeBase64 reads strings of [EncodeBase64], with or without "=" at the end.
func DecodeBase64(s *Scope, x Input) *Value { return s.Emit1("DecodeBase64", nil, x) }
