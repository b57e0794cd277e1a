package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// UnicodeErrors is a treatment of bytes that are invalid in an encoding.
type UnicodeErrors string

// The treatments of invalid bytes.
const (
	ReplaceInvalid UnicodeErrors = "replace" // the replacement character replaces them
	IgnoreInvalid  UnicodeErrors = "ignore"  // they are left out
	StrictInvalid  UnicodeErrors = "strict"  // they are an error
)

// UnicodeOptions are the settings of functions for text in encodings.
type UnicodeOptions struct {
	// Errors is the treatment of invalid bytes. Default [ReplaceInvalid].
	Errors UnicodeErrors
	// Replacement is the character that replaces them. Default U+FFFD. Zero is the default, so
	// U+0000 can't be the replacement.
	Replacement rune
	// ReplaceControl replaces the control characters U+0000 to U+001F too. [UnicodeEncode] ignores
	// it. Default false.
	ReplaceControl bool
}

// attrs returns the attributes. control is true if the op has the attribute
// replace_control_characters.
func (o *UnicodeOptions) attrs(control bool, more ...graph.Attr) graph.Attrs {
	out := graph.Attrs(more)
	if o.Errors != "" {
		out = append(out, graph.String("errors", string(o.Errors)))
	}
	if o.Replacement != 0 {
		out = append(out, graph.Int("replacement_char", int64(o.Replacement)))
	}
	if control {
		out = append(out, graph.Bool("replace_control_characters", o.ReplaceControl))
	}
	return out
}

// UnicodeDecode returns the code points of x, a vector of strings, as int32: row i has those of
// string i. Strings of another shape are taken in order, as those of a vector. The encoding is
// "UTF-8", "UTF-16-BE", "UTF-32-BE", or another name of a code page.
func UnicodeDecode(s *Scope, x Input, encoding string, o ...*UnicodeOptions) Ragged {
	out := s.EmitN(2, "UnicodeDecode", last(o).attrs(true, graph.String("input_encoding", encoding)), x)
	return Ragged{out[1], out[0]}
}

// UnicodeDecodeWithOffsets works like [UnicodeDecode]. It also returns, as int64, the offset in
// bytes of each code point in its string.
func UnicodeDecodeWithOffsets(s *Scope, x Input, encoding string, o ...*UnicodeOptions) (points, offsets Ragged) {
	out := s.EmitN(3, "UnicodeDecodeWithOffsets", last(o).attrs(true, graph.String("input_encoding", encoding)), x)
	return Ragged{out[1], out[0]}, Ragged{out[2], out[0]}
}

// UnicodeEncode makes a string of each row of code points: a vector of one for each row. The
// encoding is "UTF-8", "UTF-16-BE" or "UTF-32-BE".
func UnicodeEncode(s *Scope, points Ragged, encoding string, o ...*UnicodeOptions) *Value {
	return s.Emit1("UnicodeEncode", last(o).attrs(false, graph.String("output_encoding", encoding)), points.Values, points.RowSplits)
}

// UnicodeTranscode converts strings from one encoding, as in [UnicodeDecode], to another: "UTF-8",
// "UTF-16-BE" or "UTF-32-BE". The result has the shape of x.
func UnicodeTranscode(s *Scope, x Input, from, to string, o ...*UnicodeOptions) *Value {
	return s.Emit1("UnicodeTranscode", last(o).attrs(true, graph.String("input_encoding", from), graph.String("output_encoding", to)), x)
}

// UnicodeSplit cuts x, a vector of strings, into their characters: row i has those of string i. It is
// tf.strings.unicode_split for UTF-8; it splits no other encoding.
func UnicodeSplit(s *Scope, x Input, o ...*UnicodeOptions) Ragged {
	points := UnicodeDecode(s, x, "UTF-8", o...)
	n := Cast(s, Size(s, points.Values), tensor.Int64)
	each := Ragged{points.Values, Range(s, ConstOf(s, tensor.Int64, 0), Add(s, n, 1), ConstOf(s, tensor.Int64, 1))}
	return Ragged{UnicodeEncode(s, each, "UTF-8"), points.RowSplits}
}

// UnicodeScript returns the numbers of the scripts to which code points belong, as ICU numbers
// them; -1 for numbers that are no code point.
func UnicodeScript(s *Scope, points Input) *Value { return s.Emit1("UnicodeScript", nil, points) }
