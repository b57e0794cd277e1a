package pb

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestTextIsTensorFlows(t *testing.T) {
	for _, name := range fixtures(t, ".pbtxt") {
		t.Run(name, func(t *testing.T) {
			b, text := fixture(t, name+".pb"), fixture(t, name+".pbtxt")
			m := newFor(t, name)
			if err := m.Unmarshal(b); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(text), string(MarshalText(m))); d != "" {
				t.Errorf("written (-TensorFlow's +ours):\n%s", d)
			}
			again := newFor(t, name)
			if err := UnmarshalText(text, again); err != nil {
				t.Fatal(err)
			}
			if name == "tensorflow.GraphDef.v1" { // which was encoded in the order of a hash table
				return
			}
			if got := again.Marshal(); !bytes.Equal(got, b) {
				t.Errorf("TensorFlow's text is encoded otherwise from byte %d on", common(b, got))
			}
		})
	}
}

func TestTextFormsAreRead(t *testing.T) {
	want := TensorProto{Dtype: DataTypeFloat, TensorShape: &TensorShapeProto{Dim: []*Dim{{Size: 2, Name: "ab"}, {Size: -1}}}, FloatVal: []float32{1, -2.5, 1e10}, IntVal: []int32{16, 8, -1}, BoolVal: []bool{true, false}, StringVal: [][]byte{[]byte("a\x00\u00e9\n")}}
	for _, c := range []string{
		"dtype: DT_FLOAT tensor_shape { dim { size: 2 name: 'a' \"b\" } dim { size: -1 } } float_val: 1 float_val: -2.5 float_val: 1e+10 int_val: 16 int_val: 8 int_val: - 1 bool_val: true bool_val: false string_val: \"a\\000\\303\\251\\n\"",
		"dtype: 1, tensor_shape: < dim: [ { size: 0x2; name: \"a\"\n'b' }, { size: -1 } ]; >; float_val: [1.0f, -2.5, 1E10] # words {\nint_val: [0x10, 010, -1] bool_val: [t, 0] string_val: 'a\\x00\\u00e9\\n'",
	} {
		var m TensorProto
		if err := UnmarshalText([]byte(c), &m); err != nil {
			t.Errorf("%s: %v", c, err)
		}
		if d := cmp.Diff(want, m); d != "" {
			t.Errorf("%s:\n%s", c, d)
		}
	}
}

// TestEscapesEndAfterTheirDigits checks that the text after an escape is read
// separately; the results are those of protobuf's text_format.
func TestEscapesEndAfterTheirDigits(t *testing.T) {
	for in, want := range map[string]string{
		`\x414`: "A4", `\x4g`: "\x04g", `\1234`: "S4", `\7x`: "\x07x", `\18`: "\x018", `\u00e99`: "\u00e99", `\U0001F6004`: "\U0001F6004",
	} {
		var m TensorProto
		if err := UnmarshalText([]byte(`string_val: "`+in+`"`), &m); err != nil || len(m.StringVal) != 1 || string(m.StringVal[0]) != want {
			t.Errorf("%s: %q, %v, want %q", in, m.StringVal, err, want)
		}
	}
}

// TestTextIsReadInLinearTime: quadratic time would take minutes for each of these.
func TestTextIsReadInLinearTime(t *testing.T) {
	const n = 1 << 20
	octal := strings.Repeat(`\001`, n)
	for name, read := range map[string]func() (int, int, error){
		"octal escapes": func() (int, int, error) {
			var m TensorProto
			err := UnmarshalText([]byte(`tensor_content: "`+octal+`"`), &m)
			return len(m.TensorContent), n, err
		},
		"hexadecimal escapes": func() (int, int, error) {
			var m TensorProto
			err := UnmarshalText([]byte(`tensor_content: "`+strings.Repeat(`\x1`, n)+`"`), &m)
			return len(m.TensorContent), n, err
		},
		"adjacent strings": func() (int, int, error) {
			var m TensorProto
			err := UnmarshalText([]byte(`tensor_content: `+strings.Repeat(`"a" `, n)), &m)
			return len(m.TensorContent), n, err
		},
		"a type's URL of many tokens": func() (int, int, error) {
			var m Any
			err := UnmarshalText([]byte(`[`+strings.Repeat(`a/`, n)+`tensorflow.NodeDef] { name: "x" }`), &m)
			return len(m.TypeUrl), 2*n + len("tensorflow.NodeDef"), err
		},
		"AppendText": func() (int, int, error) {
			b, err := AppendText(nil, []byte(`raw: "`+octal+`"`), textMessage())
			return len(b), n + 4, err
		},
		"Unquote": func() (int, int, error) {
			b, err := Unquote(octal)
			return len(b), n, err
		},
	} {
		begin := time.Now()
		got, want, err := read()
		if err != nil || got != want {
			t.Errorf("%s: %d bytes, want %d, error %v", name, got, want, err)
		}
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("%s: %v for %d", name, d, n)
		}
	}
}

// TestNestedAnysAreBoundedInText: each Any is written with two more spaces a line and is
// decoded again, so that their text would be quadratic.
func TestNestedAnysAreBoundedInText(t *testing.T) {
	inner := &Any{TypeUrl: "x/tensorflow.NodeDef", Value: (&NodeDef{Name: "n"}).Marshal()}
	size := 0
	for range 3000 {
		inner = &Any{TypeUrl: "x/google.protobuf.Any", Value: inner.Marshal()}
		size = len(inner.Value)
	}
	text := MarshalText(inner)
	if len(text) > 8*size {
		t.Errorf("%d bytes are %d of text", size, len(text))
	}
	var again Any
	if err := UnmarshalText(text, &again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Marshal(), inner.Marshal()) {
		t.Error("the text stands for another message")
	}
}

func TestFaultsOfTextAreNamed(t *testing.T) {
	for _, c := range []struct {
		m        Message
		in, want string
	}{
		{new(NodeDef), "nme: 'a'", "line 1, column 1: NodeDef has no field nme"},
		{new(NodeDef), "name: 'a'\n  name: 'b'", "line 2, column 3: name is set twice"},
		{new(NodeDef), "name 'a'", "column 6: a colon is missing"},
		{new(NodeDef), "name: a", "name must be a string"},
		{new(NodeDef), "name: 'a\n'", "not closed"},
		{new(NodeDef), "name: '\\377'", "no valid UTF-8"},
		{new(NodeDef), "name: '\\q'", "an unknown escape"},
		{new(NodeDef), "name: '\\777'", "an unknown escape"},
		{new(NodeDef), "name: '\\Uffffffff'", "no character"},
		{new(NodeDef), "attr { key: 'a'", "the text ends inside a message"},
		{new(NodeDef), "attr: 1", "{ is missing after attr"},
		{new(NodeDef), "}", "got } (want a field's name)"},
		{new(NodeDef), "[type.googleapis.com/tensorflow.NodeDef] {}", "NodeDef has no extensions"},
		{new(NodeDef), "$", `unexpected '$'`},
		{new(NodeDef), "0: 1", "0 is no field's number"},
		{new(NodeDef), "99: x", "no value of a field that is not known"},
		{new(Any), "[a/no.Such] {}", `messages of type "a/no.Such" are not known`},
		{new(Any), "[$] {}", "unexpected '$'"},
		{new(Any), "[a$] {}", "unexpected '$'"},
		{new(Any), "[type.googleapis.com/tensorflow.NodeDef] $", "unexpected '$'"},
		{new(AttrValue), "i: 1 b: true", "b is set twice"},
		{new(AttrValue), "i: 9223372036854775808", "no int64"},
		{new(AttrValue), "i: 1.5", "no int64"},
		{new(AttrValue), "b: 2", "no bool"},
		{new(AttrValue), "f: 0x10", "no float"},
		{new(AttrValue), "type: DT_NONE", `"DT_NONE" is no enum, which type is`},
		{new(AttrValue), "f: 1.2.3", "no float"},
		{new(AttrValue), "f: 1e", "no float"},
		{new(AttrValue), "f: e-5", "no float"},
		{new(AttrValue), "i: 1 $", "unexpected '$'"},
		{new(TensorProto), "int_val: [1] $", "unexpected '$'"},
		{new(TensorProto), "int_val: [$]", "unexpected '$'"},
		{new(TensorProto), "int_val: $", "unexpected '$'"},
		{new(TensorProto), "int_val: [1, $]", "unexpected '$'"},
		{new(NodeDef), "99 $", "unexpected '$'"},
		{new(NodeDef), "99: 1 $", "unexpected '$'"},
		{new(TensorProto), "uint32_val: -1", "no uint32"},
		{new(TensorProto), "int_val: [1 2]", "a comma or ] is missing"},
		{new(FullTypeDef), strings.Repeat("args {", 150), "nested more than 100 deep"},
		{new(FullTypeDef), strings.Repeat("9 {", 150), "nested more than 100 deep"},
	} {
		err := UnmarshalText([]byte(c.in), c.m)
		var e *TextError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %q", c.in, err, c.want)
		}
	}
}

func TestUnknownFieldsStandInTextByNumber(t *testing.T) {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 100, protowire.VarintType), 300)
	b = protowire.AppendFixed32(protowire.AppendTag(b, 101, protowire.Fixed32Type), 7)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 102, protowire.Fixed64Type), 8)
	b = protowire.AppendBytes(protowire.AppendTag(b, 103, protowire.BytesType), []byte("a\xff"))
	b = protowire.AppendTag(b, 104, protowire.StartGroupType)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 1)
	b = protowire.AppendTag(b, 104, protowire.EndGroupType)
	var m, again GradientDef
	if err := m.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	text := MarshalText(&m)
	want := "100: 300\n101: 0x00000007\n102: 0x0000000000000008\n103: \"a\\377\"\n104 {\n  1: 1\n}\n"
	if string(text) != want {
		t.Errorf("written\n%s", text)
	}
	if err := UnmarshalText(text, &again); err != nil || !bytes.Equal(again.Marshal(), b) {
		t.Errorf("% x is read again as % x, %v", b, again.Marshal(), err)
	}
}

// FuzzText reads arbitrary text as several messages. Accepted ones are written
// and must read the same.
func FuzzText(f *testing.F) {
	for _, name := range []string{"tensorflow.NodeDef.odd", "tensorflow.StructuredValue.odd", "tensorflow.TensorProto.odd", "tensorflow.MetaGraphDef.any"} {
		f.Add(string(fixture(f, name+".pbtxt")))
	}
	f.Add("dtype: 1, tensor_shape: < dim: [ { size: 0x2; name: \"a\"\n'b' } ] > 100: 0x00000001 101 { 1: 'x' } # words")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"tensorflow.NodeDef", "tensorflow.StructuredValue", "tensorflow.TensorProto", "tensorflow.MetaGraphDef"} {
			m, again := New(name), New(name)
			if UnmarshalText([]byte(text), m) != nil {
				continue
			}
			once := MarshalText(m)
			if err := UnmarshalText(once, again); err != nil {
				t.Fatalf("%q was accepted, %q is refused: %v", text, once, err)
			}
			if twice := MarshalText(again); !bytes.Equal(once, twice) {
				t.Fatalf("%q is written as %q, then as %q", text, once, twice)
			}
		}
	})
}

// TestLazyMessagesAreWrittenAsTheyAre: whether one was decoded, made or left alone.
func TestLazyMessagesAreWrittenAsTheyAre(t *testing.T) {
	made := &FunctionDefLibrary{Function: []Lazy[FunctionDef]{{}, LazyOf(&FunctionDef{Signature: &OpDef{Name: "f"}, NodeDef: []*NodeDef{{Name: "n", Op: "NoOp"}}})}}
	encoded := made.Marshal()
	var read, again FunctionDefLibrary
	if err := read.Unmarshal(encoded); err != nil {
		t.Fatal(err)
	}
	if got := read.Marshal(); !bytes.Equal(got, encoded) {
		t.Errorf("%x, want %x", got, encoded)
	}
	f, err := read.Function[1].Get()
	if err != nil || f.NodeDef[0].Name != "n" || StringAt(read.Function[1].Encoded(), 1, 1) != "f" {
		t.Errorf("decoded: %+v, %v", f, err)
	}
	text := MarshalText(&read)
	if err := UnmarshalText(text, &again); err != nil || !bytes.Equal(again.Marshal(), encoded) {
		t.Errorf("by the text %s: %v, %x", text, err, again.Marshal())
	}
	if got, want := Memory(&read, encoded), Memory(&FunctionDef{}, read.Function[1].Encoded()); got <= want {
		t.Errorf("memory %d of a library with a function of %d", got, want)
	}
}

// TestALazyMessageIsOneWithWhatFollows checks that a field that occurs twice is merged, as
// in protobuf, whether its message is decoded when it is read or later. A missing field
// stays missing.
func TestALazyMessageIsOneWithWhatFollows(t *testing.T) {
	first := &SavedObjectGraph{Nodes: []*SavedObject{{RegisteredName: "a"}}}
	second := &SavedObjectGraph{Nodes: []*SavedObject{{RegisteredName: "b"}}}
	one, two := LazyOf(first), LazyOf(second)
	b := append((&MetaGraphDef{ObjectGraphDef: &one}).Marshal(), (&MetaGraphDef{ObjectGraphDef: &two}).Marshal()...)
	kept := bytes.Clone(b)
	var m MetaGraphDef
	if err := m.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	g, err := m.ObjectGraphDef.Get()
	if err != nil || len(g.Nodes) != 2 || g.Nodes[0].RegisteredName != "a" || g.Nodes[1].RegisteredName != "b" {
		t.Errorf("%v, %v", g, err)
	}
	if !bytes.Equal(b, kept) {
		t.Error("the merge wrote into the file's bytes")
	}
	text := MarshalText(&m)
	var again, none MetaGraphDef
	if err := UnmarshalText(text, &again); err != nil || !bytes.Equal(again.Marshal(), m.Marshal()) {
		t.Errorf("%v, %s", err, text)
	}
	if err := none.Unmarshal(nil); err != nil || none.ObjectGraphDef != nil || len(none.Marshal()) > 0 {
		t.Errorf("of nothing: %v, %x, %v", none.ObjectGraphDef, none.Marshal(), err)
	}
	var empty MetaGraphDef
	if err := empty.Unmarshal([]byte{7<<3 | 2, 0}); err != nil || !bytes.Equal(empty.Marshal(), []byte{7<<3 | 2, 0}) {
		t.Errorf("of an empty message: %x, %v", empty.Marshal(), err)
	}
}
