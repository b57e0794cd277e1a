package parse_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// within returns an encoded message as a field of another.
func within(num protowire.Number, parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
}

func number(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

// descriptors returns those of a message m.M with one field, an int32 x of
// number 1.
func descriptors() string {
	x := within(2, within(1, []byte("x")), number(3, 1), number(4, 1), number(5, 5))
	return string(within(1, within(2, []byte("m")), within(4, within(1, []byte("M")), x)))
}

func decodeX(o *function.Options, source string, message string) ([]*tensor.Tensor, error) {
	s := function.Eager(context.Background(), o)
	out := s.Emit("DecodeProtoV2", graph.Attrs{graph.String("message_type", message), graph.Strings("field_names", "x"),
		graph.Types("output_types", tensor.Int32), graph.String("descriptor_source", source)}, tensor.Vector(string(number(1, 7))))
	if err := s.Err(); err != nil {
		return nil, err
	}
	var got []*tensor.Tensor
	for _, v := range out {
		t, err := v.Tensor()
		if err != nil {
			return nil, err
		}
		got = append(got, t)
	}
	return got, nil
}

// TestDescriptorsComeFromGrantedFiles checks that a source that is a path names
// a file of the grant, and nothing else.
func TestDescriptorsComeFromGrantedFiles(t *testing.T) {
	files := &function.Options{Files: &engine.Files{Read: fstest.MapFS{"a/m.bin": {Data: []byte(descriptors())}, "bad": {Data: []byte("x")}}}}
	got, err := decodeX(files, "a/m.bin", "m.M")
	if err != nil {
		t.Fatal(err)
	}
	if want := tensor.Must(tensor.New([]int32{7}, 1, 1)); !got[1].Equal(want) {
		t.Errorf("x is %v, want %v", got[1], want)
	}
	for _, c := range []struct {
		o               *function.Options
		source, message string
		want            string
	}{
		{nil, "a/m.bin", "m.M", "grant"},
		{files, "a/none", "m.M", "not exist"},
		{files, "../a/m.bin", "m.M", "not exist"},
		{files, "bad", "m.M", "can't be decoded"},
		{files, "a/m.bin", "m.N", "no descriptor of the message m.N"},
		{nil, "bytes://" + descriptors(), "M", "no descriptor"},
		{nil, "bytes://" + descriptors()[1:], "m.M", "descriptors"},
		{nil, "local://", "m.M", "no descriptor"},
	} {
		if _, err := decodeX(c.o, c.source, c.message); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s: %v, want an error with %q", c.source, c.message, err, c.want)
		}
	}
}

// TestDamagedDescriptorsAreErrors truncates descriptors and changes their
// bytes. Each must be an error or a result, never a panic.
func TestDamagedDescriptorsAreErrors(t *testing.T) {
	whole := descriptors()
	for i := range whole {
		for _, b := range []byte{0, 1, 0x7f, 0xff, whole[i] ^ 8} {
			for _, s := range []string{whole[:i], whole[:i] + string([]byte{b}) + whole[i+1:]} {
				decodeX(nil, "bytes://"+s, "m.M")
			}
		}
	}
	deep := within(1, []byte("M"))
	for range 300 {
		deep = append(within(1, []byte("M")), within(3, deep)...)
	}
	if _, err := decodeX(nil, "bytes://"+string(within(1, within(4, deep))), "M"); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("messages 300 deep: %v", err)
	}
}

// TestMessagesThatAreWrongAreErrors checks messages that can't be decoded, and
// values that don't fit their sizes.
func TestMessagesThatAreWrongAreErrors(t *testing.T) {
	source := graph.String("descriptor_source", "bytes://"+descriptors())
	message, names := graph.String("message_type", "m.M"), graph.Strings("field_names", "x")
	decode := graph.Attrs{source, message, names, graph.Types("output_types", tensor.Int32)}
	encode := graph.Attrs{source, message, names, graph.Types("Tinput_types", tensor.Int32)}
	sizes := func(n int32) *tensor.Tensor { return tensor.Must(tensor.New([]int32{n}, 1, 1)) }
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
		in    []ops.Input
	}{
		{"DecodeProtoV2", decode, []ops.Input{tensor.Vector("\xff")}},
		{"DecodeProtoV2", decode, []ops.Input{tensor.Vector("\x08")}},
		{"DecodeProtoV2", decode, []ops.Input{tensor.Vector[string]()}},
		{"DecodeProtoV2", append(decode, graph.String("message_format", "text")), []ops.Input{tensor.Vector("x: y")}},
		{"DecodeProtoV2", append(decode, graph.String("message_format", "text")), []ops.Input{tensor.Vector("x: 1 x: 2")}},
		{"DecodeProtoV2", append(decode, graph.String("message_format", "text")), []ops.Input{tensor.Vector("z: 1")}},
		{"DecodeProtoV2", append(decode, graph.String("message_format", "json")), []ops.Input{tensor.Vector("")}},
		{"EncodeProto", encode, []ops.Input{sizes(2), sizes(5)}},
		{"EncodeProto", encode, []ops.Input{sizes(1), tensor.Vector[int32](5)}},
		{"EncodeProto", encode, []ops.Input{tensor.Vector[int32](1, 1), sizes(5)}},
	} {
		s := function.Eager(context.Background())
		if s.Emit(c.op, c.attrs, c.in...); s.Err() == nil {
			t.Errorf("%s(%v) is no error", c.op, c.in)
		}
	}
}
