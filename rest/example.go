package rest

import (
	"cmp"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/tensor"
)

// Feature is a feature of a tf.train.Example: a name and a list of values of one
// kind. At most one of the lists is not empty.
type Feature struct {
	Name   string
	Bytes  []string
	Floats []float32
	Ints   []int64
}

// Example is a tf.train.Example: its features in the order of their names.
type Example []Feature

// Examples decodes the examples of a classify or regress request, and the
// context that belongs to all of them. A feature is a value or a list of values:
// strings and {"b64": "…"} are bytes, numbers with a point or an exponent are
// floats, other numbers and booleans are integers. An error is an [*Error].
func (r *Request) Examples() (context Example, examples []Example, err error) {
	context, bad := r.examples(func(e Example) *Error {
		examples = append(examples, e)
		return nil
	})
	return context, examples, asError(bad)
}

// The context becomes a part of each example, so the serialized examples may be larger than the
// request. These are Cairn's limits for them, which the comment of Serialized states: the larger of
// the two counts.
const (
	maxRepeat    = 16       // times the bytes of the request
	freeRepeated = 64 << 20 // bytes
)

// Serialized returns the examples of a classify or regress request as signatures
// take them: a vector of serialized tf.train.Example, each with the features of
// the context. Together they may take 16 times the request's bytes, or 64 MiB. An
// error is an [*Error].
func (r *Request) Serialized() (*tensor.Tensor, error) {
	var list []string
	var context Example
	limit, size := max(freeRepeated, maxRepeat*len(r.b)), 0
	if r.context != 0 {
		var err *Error
		if context, err = example(&scanner{r.b, r.context}); err != nil {
			return nil, err.below("context")
		}
	}
	_, bad := r.examples(func(e Example) *Error {
		merged := append(slices.Clip(context), e...)
		sortFeatures(merged)
		text := string(merged.Marshal())
		if size += len(text); size > limit {
			return fault(r.value, "the examples take over %d bytes once each has the context's features", limit)
		}
		list = append(list, text)
		return nil
	})
	if bad != nil {
		return nil, bad
	}
	t, err := tensor.FromStrings(tensor.String, list, len(list))
	if err != nil {
		return nil, fault(r.value, "the examples make no tensor")
	}
	return t, nil
}

// examples decodes the context and then each example.
func (r *Request) examples(each func(Example) *Error) (context Example, err *Error) {
	if r.form != Examples {
		return nil, fault(r.value, `classify and regress take "examples", and the request holds %q`, r.form)
	}
	if r.context != 0 {
		if context, err = example(&scanner{r.b, r.context}); err != nil {
			return nil, err.below("context")
		}
	}
	s := &scanner{r.b, r.value}
	if s.next() != '[' {
		return nil, fault(r.value, "got %s (want a list of examples)", s.value()).below("examples")
	}
	n := 0
	err = s.list(func(i int) *Error {
		n++
		at := s.at
		e, err := example(s)
		if err != nil {
			return err.under(i)
		}
		if name, ok := common(context, e); ok {
			return fault(at, `the feature %s is in "context" too`, quote(name)).under(i)
		}
		return each(e).under(i)
	})
	if err == nil && n == 0 {
		err = fault(r.value, "the list of examples is empty")
	}
	return context, err.below("examples")
}

// common returns a name that both examples have.
func common(a, b Example) (string, bool) {
	for i := range b {
		if _, ok := slices.BinarySearchFunc(a, b[i].Name, func(f Feature, name string) int { return cmp.Compare(f.Name, name) }); ok {
			return b[i].Name, true
		}
	}
	return "", false
}

func sortFeatures(e Example) {
	slices.SortFunc(e, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
}

// example reads an object of features.
func example(s *scanner) (Example, *Error) {
	if s.next() != '{' {
		return nil, fault(s.at, "%s can't be an example (want an object of features)", s.value())
	}
	begin := s.at
	var e Example
	err := s.object(func(name string, at int) *Error {
		f := Feature{Name: name}
		if s.next() != '[' {
			if err := f.read(s); err != nil {
				return err.below(name)
			}
		} else if err := s.list(func(i int) *Error { return f.read(s).under(i) }); err != nil {
			return err.below(name)
		}
		e = append(e, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sortFeatures(e)
	for i := 1; i < len(e); i++ {
		if e[i].Name == e[i-1].Name {
			return nil, fault(begin, "the feature %s appears twice", quote(e[i].Name))
		}
	}
	return e, nil
}

// read appends the next value.
func (f *Feature) read(s *scanner) *Error {
	c := s.next()
	at := s.at
	switch {
	case c == '"' || c == '{':
		v, err := readString(s)
		if err != nil {
			return err
		}
		f.Bytes = append(f.Bytes, v)
	case c == 't' || c == 'f':
		v, err := readBool(s, tensor.Bool)
		if err != nil {
			return err
		}
		n := int64(0)
		if v {
			n = 1
		}
		f.Ints = append(f.Ints, n)
	case c == '-' || c == 'N' || c == 'I' || isDigit(c):
		if err := f.number(s); err != nil {
			return err
		}
	default:
		return fault(at, "%s can't be a feature's value (want a number, a string or a list of them)", s.value())
	}
	if kinds := f.kinds(); len(kinds) > 1 {
		return fault(at, "the feature's values are %s and %s; a feature has values of one kind", kinds[0], kinds[1])
	}
	return nil
}

// number appends a number: one with a point or an exponent is a float.
func (f *Feature) number(s *scanner) *Error {
	at := s.at
	n, err := s.number()
	if err != nil {
		return err
	}
	s.at = at
	if n.kind != whole {
		v, err := readFloat32(s, tensor.Float32)
		if err == nil {
			f.Floats = append(f.Floats, v)
		}
		return err
	}
	c := signed(tensor.Int64, 64, func(i int64) int64 { return i }).(*collect[int64])
	if err := c.read(s); err != nil {
		return err
	}
	f.Ints = append(f.Ints, c.values...)
	return nil
}

func (f *Feature) kinds() (list []string) {
	if len(f.Bytes) > 0 {
		list = append(list, "strings")
	}
	if len(f.Floats) > 0 {
		list = append(list, "numbers with a point")
	}
	if len(f.Ints) > 0 {
		list = append(list, "whole numbers")
	}
	return list
}

// Marshal returns the example as a serialized tf.train.Example, the features in
// the example's order.
func (e Example) Marshal() []byte {
	var features []byte
	for i := range e {
		entry := protowire.AppendTag(nil, 1, protowire.BytesType)
		entry = protowire.AppendString(entry, e[i].Name)
		entry = protowire.AppendTag(entry, 2, protowire.BytesType)
		entry = protowire.AppendBytes(entry, e[i].marshal())
		features = protowire.AppendTag(features, 1, protowire.BytesType)
		features = protowire.AppendBytes(features, entry)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), features)
}

// marshal returns the feature as a serialized tf.train.Feature; empty if it has no values, as TensorFlow
// writes a feature of no kind. Lists of numbers are packed.
func (f *Feature) marshal() []byte {
	var list []byte
	var kind protowire.Number
	switch {
	case len(f.Bytes) > 0:
		kind = 1
		for _, v := range f.Bytes {
			list = protowire.AppendString(protowire.AppendTag(list, 1, protowire.BytesType), v)
		}
	case len(f.Floats) > 0:
		kind = 2
		packed := make([]byte, 0, 4*len(f.Floats))
		for _, v := range f.Floats {
			packed = protowire.AppendFixed32(packed, math.Float32bits(v))
		}
		list = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), packed)
	case len(f.Ints) > 0:
		kind = 3
		var packed []byte
		for _, v := range f.Ints {
			packed = protowire.AppendVarint(packed, uint64(v))
		}
		list = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), packed)
	default:
		return nil
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, kind, protowire.BytesType), list)
}
