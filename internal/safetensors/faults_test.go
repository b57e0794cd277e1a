package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
)

// TestErrorsNamePlaceAndTensor pins whole messages, and the offsets in them.
func TestErrorsNamePlaceAndTensor(t *testing.T) {
	one := `"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`
	for _, c := range []struct{ header, data, want string }{
		{`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "xx", `safetensors: at byte 61: tensor "a": a hole of 1 bytes before the tensor`},
		{`{` + one + `}`, "xxxxx", `safetensors: at byte 63: 3 bytes after the last tensor`},
		{`{` + one + `,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, "xxx", `safetensors: at byte 114: tensor "b": the tensor overlaps the one before by 1 bytes`},
		{`{"a":{"dtype":"F32","shape":[1],"data_offsets":[1,3]}}`, "xxx", `safetensors: at byte 61: tensor "a": F32[1] doesn't take the 2 bytes of its data_offsets`},
		{`{"a":{"dtype":"U8","shape":[1],"data_offsets":[3,2]}}`, "xxxx", `safetensors: at byte 60: tensor "a": data_offsets [3,2] in 4 bytes of data`},
		{`{"a":{"shape":[0],"data_offsets":[0,0]}}`, "", `safetensors: at byte 47: tensor "a": the entry is not dtype, shape and two data_offsets`},
		{`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, "x", `safetensors: at byte 48: tensor "a": the entry is not dtype, shape and two data_offsets`},
		{`{"a":{"dtype":"U8","shape":null,"data_offsets":[0,1]}}`, "x", `safetensors: at byte 61: tensor "a": the entry is not dtype, shape and two data_offsets`},
		{`{"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}}`, "x", `safetensors: at byte 78: tensor "a": the size 9223372036854775808`},
		{`{"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]}}`, "", `safetensors: at byte 79: tensor "a": F64[4611686018427387904] doesn't take the 0 bytes of its data_offsets`},
		{`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, "", `safetensors: at byte 60: the header is no JSON: EOF`},
		{`{"__metadata__":{"a":"1"`, "", `safetensors: at byte 32: __metadata__: EOF`},
		{`{"__metadata__":{"a"`, "", `safetensors: at byte 28: __metadata__: EOF`},
		{`{"__metadata__":{"a":"1",`, "", `safetensors: at byte 33: __metadata__: EOF`},
		{`{"__metadata__"`, "", `safetensors: at byte 23: __metadata__ is no object: EOF`},
		{`{!`, "", `safetensors: at byte 9: the header is no JSON: invalid character '!'`},
		{``, "", `safetensors: at byte 8: the header doesn't begin with {`},
	} {
		raw := file(c.header, c.data)
		_, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
		if err == nil || strconv.IntSize == 64 && err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.header, err, c.want)
		}
	}
}

// TestHeadersMayEndInAnySpace: the reference ends headers in blanks, others in
// line ends and tabs.
func TestHeadersMayEndInAnySpace(t *testing.T) {
	open(t, file("{} \n\t\r", ""))
	long := "{}" + strings.Repeat(" ", 20_000) // more than a decoder reads at a time
	open(t, file(long, ""))
	b := file(long+"x", "")
	if _, err := Open(bytes.NewReader(b), int64(len(b)), nil); !errors.Is(err, ErrFormat) {
		t.Errorf("text after the blanks: %v", err)
	}
}

// TestHeaderLimits: a header as long as its limit is read, a longer one names
// the limit that it passes.
func TestHeaderLimits(t *testing.T) {
	raw := file(`{}  `, "")
	read := func(raw []byte, o *Options) error {
		_, err := Open(bytes.NewReader(raw), int64(len(raw)), o)
		return err
	}
	for _, o := range []*Options{nil, {}, {MaxHeader: 4}, {MaxHeader: 5}} {
		if err := read(raw, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	err := read(raw, &Options{MaxHeader: 3})
	if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "a header of 4 bytes, of which at most 3 are on the disk") {
		t.Errorf("a header beyond MaxHeader: %v", err)
	}
	if err := read(binary.LittleEndian.AppendUint64(nil, 1), nil); err == nil || !strings.Contains(err.Error(), "a header of 1 bytes in a file of 8") {
		t.Errorf("a header that isn't there: %v", err)
	}
	for n, want := range map[uint64]string{MaxHeader: "in a file of", MaxHeader + 1: "the most is"} {
		if err := read(binary.LittleEndian.AppendUint64(nil, n), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a header of %d bytes: %v", n, err)
		}
	}
}

// TestHeadersAreWrittenUpToTheLimit checks that a header beyond the limit is
// refused before anything is written, and that one at the limit is written.
func TestHeadersAreWrittenUpToTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 200 MB")
	}
	ctx := context.Background()
	const around = len(`{"__metadata__":{"k":""}}`)
	room := MaxHeader - MaxHeader%8 - around
	for less, want := range map[int]bool{0: true, -1: false} {
		var b bytes.Buffer
		err := Write(ctx, &b, nil, map[string]string{"k": strings.Repeat("v", room-less)}, nil)
		if (err == nil) != want || want && b.Len() != 8+MaxHeader || !want && b.Len() != 0 {
			t.Errorf("%d bytes less: %d bytes were written, %v", less, b.Len(), err)
		}
	}
}

// short is a file that can't be read from a place on.
type short struct {
	b   []byte
	at  int64
	err error
}

func (s short) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, s.b[min(off, int64(len(s.b))):min(s.at, int64(len(s.b)))])
	if n < len(p) {
		return n, s.err
	}
	return n, nil
}

// TestReadingSaysWhatWentWrong: a file that ends early is told from one that
// can't be read, with the place.
func TestReadingSaysWhatWentWrong(t *testing.T) {
	ctx := context.Background()
	raw := file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, "abcd")
	size := int64(len(raw))
	broken := errors.New("the disk is broken")
	for _, c := range []struct{ err, want error }{{io.EOF, io.ErrUnexpectedEOF}, {nil, io.ErrUnexpectedEOF}, {broken, broken}} {
		f, err := Open(short{raw, size - 2, c.err}, size, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Read(ctx, "a")
		var at *Error
		if !errors.Is(err, c.want) || !errors.As(err, &at) || at.Offset != size-2 || at.Name != "a" {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	for at := range size - 4 {
		if _, err := Open(short{raw, at, broken}, size, nil); !errors.Is(err, broken) && at >= 8 {
			t.Errorf("unreadable from byte %d on: %v", at, err)
		}
	}
	f := open(t, raw)
	if _, err := f.Read(ctx, "b"); err == nil || !strings.Contains(err.Error(), `no tensor is called "b"`) {
		t.Error(err)
	}
	if err := f.ReadInto(ctx, "b", tensor.Vector[uint8](1)); err == nil || !strings.Contains(err.Error(), `no tensor is called "b"`) {
		t.Error(err)
	}
	for _, into := range []*tensor.Tensor{tensor.Vector[int8](1, 2, 3, 4), tensor.Vector[uint8](1, 2, 3)} {
		if err := f.ReadInto(ctx, "a", into); err == nil || !strings.Contains(err.Error(), "is uint8[4], not") {
			t.Errorf("into %v%v: %v", into.DType(), into.Shape(), err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Read(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Write(ended, io.Discard, slices.Clone(f.Infos()), nil, f.Read); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLargeTensorsAreReadWhole reads one in several pieces.
func TestLargeTensorsAreReadWhole(t *testing.T) {
	const n = 16<<20 + 3
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i >> 12)
	}
	raw := file(`{"a":{"dtype":"U8","shape":[`+strconv.Itoa(n)+`],"data_offsets":[0,`+strconv.Itoa(n)+`]}}`, string(data))
	got, err := open(t, raw).Read(context.Background(), "a")
	if err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("other bytes: %v", err)
	}
}

// failing is a writer that takes n bytes.
type failing struct{ n int }

func (w *failing) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestWritingSaysWhatWentWrong: nothing that the writer, the source or the text
// refuses is passed over.
func TestWritingSaysWhatWentWrong(t *testing.T) {
	ctx := context.Background()
	infos := []Info{{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{3}}}
	read := func(context.Context, string) (*tensor.Tensor, error) { return tensor.Vector[uint8](1, 2, 3), nil }
	var whole bytes.Buffer
	if err := Write(ctx, &whole, infos, nil, read); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		if err := Write(ctx, &failing{n}, infos, nil, read); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a writer of %d bytes: %v", n, err)
		}
	}
	if err := Write(ctx, &failing{3}, nil, nil, read); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a header alone: %v", err)
	}
	gone := errors.New("gone")
	if err := Write(ctx, io.Discard, infos, nil, func(context.Context, string) (*tensor.Tensor, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
	for _, m := range []map[string]string{{"\xff": "v"}, {"k": "\xff"}} {
		if err := Write(ctx, io.Discard, nil, m, nil); err == nil || !strings.Contains(err.Error(), "no UTF-8") {
			t.Errorf("%q: %v", m, err)
		}
	}
}

// TestMetadataIsEscapedAsTheReferenceDoes: sorted, and with serde_json's escapes.
func TestMetadataIsEscapedAsTheReferenceDoes(t *testing.T) {
	meta := map[string]string{"b": "\r\t\b\f\n\x02\"\\é", "a": ""}
	var b bytes.Buffer
	if err := Write(context.Background(), &b, nil, meta, nil); err != nil {
		t.Fatal(err)
	}
	want := `{"__metadata__":{"a":"","b":"\r\t\b\f\n\u0002\"\\é"}}`
	if got := strings.TrimRight(b.String()[8:], " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d := cmp.Diff(meta, open(t, b.Bytes()).Metadata()); d != "" {
		t.Error(d)
	}
}

// TestOrderOfTensors: by falling rank of the element type, then by name; read,
// by name alone.
func TestOrderOfTensors(t *testing.T) {
	var infos []Info
	values := map[string]*tensor.Tensor{
		"c": tensor.Vector[uint8](1), "b": tensor.Vector[float32](2), "a": tensor.Vector[uint8](3), "d": tensor.Vector[float32](4), "e": tensor.Vector[float32](),
	}
	for _, name := range []string{"c", "d", "e", "a", "b"} {
		infos = append(infos, Info{Name: name, DType: values[name].DType(), Shape: values[name].Shape()})
	}
	var names []string
	for i := range Sorted(infos) {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, ""); got != "bdeac" {
		t.Errorf("written in the order %s", got)
	}
	var b bytes.Buffer
	if err := Write(context.Background(), &b, infos, nil, func(_ context.Context, name string) (*tensor.Tensor, error) { return values[name], nil }); err != nil {
		t.Fatal(err)
	}
	f := open(t, b.Bytes())
	names = nil
	for _, i := range f.Infos() {
		names = append(names, i.Name)
		if got, ok := f.Info(i.Name); !ok || !cmp.Equal(got, i) {
			t.Errorf("%s: %v, %v", i.Name, got, ok)
		}
	}
	if got := strings.Join(names, ""); got != "abcde" {
		t.Errorf("listed in the order %s", got)
	}
	// Files of other writers may have tensors in any order, and an empty tensor may
	// begin at the offset of another one.
	open(t, file(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, "ab"))
}
