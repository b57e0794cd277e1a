package parse

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/protodesc"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of DecodeProtoV2 and EncodeProto. The values and the order of
// fields are TensorFlow's (decode_proto_op.cc, encode_proto_op.cc).

// local are the descriptors of TensorFlow's own messages, which
// internal/gen/protodefs writes.
//
//go:embed local.deflate
var local []byte

var linkedIn = sync.OnceValues(func() (*protodesc.Set, error) {
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(local)))
	if err != nil {
		return nil, err
	}
	return protodesc.Parse(b)
})

// maxDescriptors bounds a file of descriptors, in bytes. The limit is Cairn's, not TensorFlow's.
const maxDescriptors = 64 << 20

// protoFields are the fields of a message that an op reads or writes.
type protoFields struct {
	source  string // of descriptors: TensorFlow's own, their bytes or a file, see inNode
	message string // the type's full name
	names   []string
	types   []tensor.DType
	text    bool // messages are in text form

	fields []*protodesc.Field // nil if each call reads a file for them
	of     *protodesc.Message
}

func newProtoFields(n *engine.Node, types string) (*protoFields, error) {
	p := &protoFields{source: n.Attrs.String("descriptor_source", "local://"), message: n.Attrs.String("message_type", ""),
		names: n.Attrs.Strings("field_names"), types: n.Attrs.Types(types)}
	if len(p.names) != len(p.types) {
		return nil, fmt.Errorf("%d field_names for %d %s", len(p.names), len(p.types), types)
	}
	set, err := p.inNode()
	if err != nil {
		return nil, fmt.Errorf("the descriptors: %w", err)
	}
	if set == nil {
		return p, nil
	}
	return p, p.find(set)
}

// forCall returns p. If the node doesn't have the fields, it returns a copy
// with those in the call's file: a file that one call was granted must not be
// used by others.
func (p *protoFields) forCall(c *engine.Call) (*protoFields, error) {
	if p.of != nil {
		return p, nil
	}
	set, err := p.inFile(c)
	if err != nil {
		return nil, fmt.Errorf("the descriptors: %w", err)
	}
	q := *p
	return &q, q.find(set)
}

// find sets the fields from descriptors.
func (p *protoFields) find(set *protodesc.Set) error {
	m := set.Message(p.message)
	if m == nil {
		return fmt.Errorf("there is no descriptor of the message %s", p.message)
	}
	fields := make([]*protodesc.Field, len(p.names))
	for i, name := range p.names {
		f := m.Field(name)
		if f == nil {
			return fmt.Errorf("the message %s has no field %s", p.message, name)
		}
		if !slices.Contains(protoTypes[f.Kind], p.types[i]) {
			return fmt.Errorf("the field %s of %s is %v, which %v doesn't hold, only %v", name, p.message, f.Kind, p.types[i], protoTypes[f.Kind])
		}
		fields[i] = f
	}
	p.fields, p.of = fields, m
	return nil
}

// protoTypes are the element types for each kind of field.
var protoTypes = map[protodesc.Kind][]tensor.DType{
	protodesc.Double: {tensor.Float64}, protodesc.Float: {tensor.Float32, tensor.Float64},
	protodesc.Int64: {tensor.Int64}, protodesc.Sfixed64: {tensor.Int64}, protodesc.Sint64: {tensor.Int64},
	protodesc.Uint64: {tensor.Uint64}, protodesc.Fixed64: {tensor.Uint64},
	protodesc.Int32: {tensor.Int32, tensor.Int64}, protodesc.Sfixed32: {tensor.Int32, tensor.Int64}, protodesc.Sint32: {tensor.Int32, tensor.Int64},
	protodesc.Uint32: {tensor.Uint32, tensor.Uint64}, protodesc.Fixed32: {tensor.Uint32, tensor.Uint64},
	protodesc.Bool: {tensor.Bool}, protodesc.EnumKind: {tensor.Int32},
	protodesc.String: {tensor.String}, protodesc.Bytes: {tensor.String}, protodesc.MessageKind: {tensor.String}, protodesc.Group: {tensor.String},
}

// inNode returns TensorFlow's own descriptors or those in the attribute, nil if
// the attribute is the path of a file.
func (p *protoFields) inNode() (*protodesc.Set, error) {
	if p.source == "" || p.source == "local://" {
		return linkedIn()
	}
	if b, ok := strings.CutPrefix(p.source, "bytes://"); ok {
		return protodesc.Parse([]byte(b))
	}
	return nil, nil
}

// inFile returns the descriptors in a file that the call was granted.
func (p *protoFields) inFile(c *engine.Call) (*protodesc.Set, error) {
	fsys, place, err := c.Reading(p.source)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(place)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDescriptors+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxDescriptors {
		return nil, &fs.PathError{Op: "read", Path: p.source, Err: errors.New("descriptors take no more than 64 MB")}
	}
	return protodesc.Parse(b)
}

// decodeProto decodes fields of messages. It returns the number of occurrences
// of each in each message, and its values, followed by the field's default.
func decodeProto(n *engine.Node) (func(*engine.Call) error, error) {
	p, err := newProtoFields(n, "output_types")
	if err != nil {
		return nil, err
	}
	switch format := n.Attrs.String("message_format", "binary"); format {
	case "binary":
	case "text":
		p.text = true
	default:
		return nil, fmt.Errorf("the message_format %q is neither binary nor text", format)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		p, err := p.forCall(c)
		if err != nil {
			return err
		}
		in := c.In(0)
		if in.DType() != tensor.String || in.Len() == 0 {
			return fmt.Errorf("the messages are %v%v; strings are needed, at least one", in.DType(), in.Shape())
		}
		return p.decode(c, in)
	}, nil
}

// Output 0 is the counts, [..., fields]; output 1+k is field k, [..., largest
// count].
func (p *protoFields) decode(c *engine.Call, in *tensor.Tensor) error {
	// If a field is requested twice, the first output gets it.
	byNumber := map[protowire.Number]int{}
	for i := len(p.fields) - 1; i >= 0; i-- {
		byNumber[p.fields[i].Num] = i
	}
	messages := make([][]byte, in.Len())
	sizes, err := c.AllocZero(0, tensor.Int32, append(in.Shape().Clone(), len(p.fields)))
	if err != nil {
		return err
	}
	count, most := tensor.Values[int32](sizes), make([]int, len(p.fields))
	for i, s := range in.Strings() {
		messages[i] = []byte(s)
		if p.text {
			if messages[i], err = pb.AppendText(nil, []byte(s), p.of); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		of := count[i*len(p.fields):][:len(p.fields)]
		if err := p.each(messages[i], byNumber, func(k int, _ []byte, _ bool) {
			if of[k]++; !p.fields[k].Repeated {
				of[k] = 1
			}
			most[k] = max(most[k], int(of[k]))
		}); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	put := make([]func(at int, value []byte, packed bool), len(p.fields))
	for k, f := range p.fields {
		most[k] = max(most[k], 1) // space for the default
		t, err := c.Alloc(1+k, p.types[k], append(in.Shape().Clone(), most[k]))
		if err != nil {
			return err
		}
		put[k] = protoSetter(f, t)
		for i := range t.Len() {
			put[k](i, nil, false)
		}
	}
	at := make([]int, len(p.fields))
	for i, b := range messages {
		clear(at)
		if err := p.each(b, byNumber, func(k int, value []byte, packed bool) {
			switch {
			case p.fields[k].Repeated:
				put[k](i*most[k]+at[k], value, packed)
				at[k]++
			case !packed: // the last one wins
				put[k](i, value, false)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with the values of the requested fields in a message.
func (p *protoFields) each(b []byte, byNumber map[protowire.Number]int, f func(k int, value []byte, packed bool)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMessage
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return errMessage
		}
		whole, value := b[:n+m], b[n:n+m]
		b = b[n+m:]
		k, ok := byNumber[num]
		if !ok {
			continue
		}
		switch field := p.fields[k]; {
		case typ == protowire.BytesType && field.Kind.Packable():
			list, _ := protowire.ConsumeBytes(value)
			for len(list) > 0 {
				_, n := field.Number(list)
				if n < 0 {
					return errMessage
				}
				f(k, list[:n:n], true)
				list = list[n:]
			}
		case typ != field.Kind.Wire(): // another wire type: skipped as an unknown field
		case field.Kind == protodesc.Group:
			f(k, whole, false)
		default:
			if typ == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
			f(k, value[:len(value):len(value)], false)
		}
	}
	return nil
}

// protoSetter returns a function that sets an element to an encoded value, or
// to the default if that is nil.
func protoSetter(f *protodesc.Field, t *tensor.Tensor) func(at int, value []byte, packed bool) {
	number := func(value []byte, packed bool) uint64 {
		if value == nil {
			return f.Default
		}
		v, _ := f.Number(value)
		if packed && f.Kind == protodesc.Int32 {
			v = uint64(uint32(v)) // TensorFlow reads packed values as unsigned: only an int32 output is negative again
		}
		return v
	}
	switch t.DType() {
	case tensor.String:
		v := t.Strings()
		return func(at int, value []byte, packed bool) {
			if v[at] = string(value); value == nil {
				v[at] = f.DefaultBytes
			}
		}
	case tensor.Float32:
		v := tensor.Values[float32](t)
		return func(at int, value []byte, packed bool) { v[at] = float32(math.Float64frombits(number(value, packed))) }
	case tensor.Float64:
		v := tensor.Values[float64](t)
		return func(at int, value []byte, packed bool) { v[at] = math.Float64frombits(number(value, packed)) }
	case tensor.Bool:
		v := tensor.Values[bool](t)
		return func(at int, value []byte, packed bool) { v[at] = number(value, packed) != 0 }
	case tensor.Int32:
		v := tensor.Values[int32](t)
		return func(at int, value []byte, packed bool) { v[at] = int32(number(value, packed)) }
	case tensor.Int64:
		v := tensor.Values[int64](t)
		return func(at int, value []byte, packed bool) { v[at] = int64(number(value, packed)) }
	case tensor.Uint32:
		v := tensor.Values[uint32](t)
		return func(at int, value []byte, packed bool) { v[at] = uint32(number(value, packed)) }
	}
	v := tensor.Values[uint64](t)
	return func(at int, value []byte, packed bool) { v[at] = number(value, packed) }
}

// protoGetter returns a function that returns an element in the form of
// [protodesc.Field.AppendNumber].
func protoGetter(t *tensor.Tensor) func(at int) uint64 {
	switch t.DType() {
	case tensor.Float32:
		v := tensor.Values[float32](t)
		return func(at int) uint64 { return math.Float64bits(float64(v[at])) }
	case tensor.Float64:
		v := tensor.Values[float64](t)
		return func(at int) uint64 { return math.Float64bits(v[at]) }
	case tensor.Bool:
		v := tensor.Values[bool](t)
		return func(at int) uint64 {
			if v[at] {
				return 1
			}
			return 0
		}
	case tensor.Int32:
		v := tensor.Values[int32](t)
		return func(at int) uint64 { return uint64(int64(v[at])) }
	case tensor.Int64:
		v := tensor.Values[int64](t)
		return func(at int) uint64 { return uint64(v[at]) }
	case tensor.Uint32:
		v := tensor.Values[uint32](t)
		return func(at int) uint64 { return uint64(v[at]) }
	case tensor.Uint64:
		v := tensor.Values[uint64](t)
		return func(at int) uint64 { return v[at] }
	}
	return nil
}

// encodeProto encodes messages from fields, in the order of their numbers.
func encodeProto(n *engine.Node) (func(*engine.Call) error, error) {
	p, err := newProtoFields(n, "Tinput_types")
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(1 + len(p.names)); err != nil {
			return err
		}
		p, err := p.forCall(c)
		if err != nil {
			return err
		}
		return p.encode(c)
	}, nil
}

func (p *protoFields) encode(c *engine.Call) error {
	sizes := c.In(0)
	s := sizes.Shape()
	if sizes.DType() != tensor.Int32 || len(s) < 1 || s[len(s)-1] != len(p.fields) {
		return fmt.Errorf("the sizes are %v%v, not an int32 for each of %d fields", sizes.DType(), s, len(p.fields))
	}
	batch := s[:len(s)-1]
	order, gets := make([]int, len(p.fields)), make([]func(int) uint64, len(p.fields))
	for k := range p.fields {
		t := c.In(1 + k)
		if v := t.Shape(); t.DType() != p.types[k] || len(v) < 2 || !v[:len(v)-1].Equal(batch) {
			return fmt.Errorf("the values of %s are %v%v, for sizes of %v", p.names[k], t.DType(), v, s)
		}
		order[k], gets[k] = k, protoGetter(t)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(p.fields[a].Num) - int(p.fields[b].Num) })
	out, err := c.Alloc(0, tensor.String, batch)
	if err != nil {
		return err
	}
	var b []byte
	total := int64(0)
	for i := range out.Len() {
		b = b[:0]
		for _, k := range order {
			f, t := p.fields[k], c.In(1+k)
			width := t.Shape()[len(s)-1]
			n := int(tensor.Values[int32](sizes)[i*len(order)+k])
			if n > width {
				return fmt.Errorf("message %d has %d values of %s, there are %d", i, n, p.names[k], width)
			}
			if b = appendField(b, f, t, gets[k], i*width, n); total+int64(len(b)) > 1<<20 {
				if err := c.Afford(total + int64(len(b))); err != nil {
					return err
				}
			}
		}
		out.Strings()[i] = string(b)
		total += int64(len(b))
	}
	return c.Afford(total)
}

// appendField appends n values of a field, from element at on.
func appendField(b []byte, f *protodesc.Field, t *tensor.Tensor, get func(int) uint64, at, n int) []byte {
	packed := f.Packed && n != 0 // a negative number of values makes an empty list, as in TensorFlow
	n = max(n, 0)
	switch {
	case get == nil:
		for _, v := range t.Strings()[at : at+n] {
			b = protowire.AppendTag(b, f.Num, f.Kind.Wire())
			if f.Kind == protodesc.Group {
				b = protowire.AppendTag(append(b, v...), f.Num, protowire.EndGroupType)
				continue
			}
			b = protowire.AppendString(b, v)
		}
	case packed:
		var list []byte
		for i := range n {
			list = f.AppendNumber(list, get(at+i))
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, f.Num, protowire.BytesType), list)
	default:
		for i := range n {
			b = f.AppendNumber(protowire.AppendTag(b, f.Num, f.Kind.Wire()), get(at+i))
		}
	}
	return b
}
