package data_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// written are the records "one", "" and "three" as TensorFlow's writer has them.
const written = "AwAAAAAAAACwmUkOb25lAUBVCAAAAAAAAAAAKQOYB9jqgqIFAAAAAAAAAOqyBD50aHJlZWAj+0U="

// elements goes through a dataset of strings that op makes.
func elements(t *testing.T, files *engine.Files, op string, in ...ops.Input) ([]string, error) {
	t.Helper()
	s := function.Eager(context.Background(), &function.Options{Files: files, MaxOutput: 1 << 20})
	types, shapes := graph.Types("output_types", tensor.String), graph.Shapes("output_shapes", graph.ShapeOf())
	it := s.Emit("AnonymousIteratorV3", graph.Attrs{types, shapes})
	ds := s.Emit(op, nil, in...)
	if s.Err() != nil {
		return nil, s.Err()
	}
	s.Emit("MakeIterator", nil, ds[0], it[0])
	var out []string
	for {
		e := s.Emit("IteratorGetNext", graph.Attrs{types, shapes}, it[0])
		if err := s.Err(); err != nil {
			if strings.Contains(err.Error(), "end of sequence") {
				err = nil
			}
			return out, err
		}
		x, err := e[0].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x.Strings()[0])
	}
}

func packed(t *testing.T, b []byte, make func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var out bytes.Buffer
	w := make(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDatasetsOfFilesEqualTensorFlow(t *testing.T) {
	records, err := base64.StdEncoding.DecodeString(written)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(records)
	damaged[13] ^= 1
	huge := bytes.Clone(records)
	huge[7] = 0x70
	all := fstest.MapFS{}
	for name, data := range map[string]string{
		"r": string(records), "r.gz": packed(t, records, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		"r.z":     packed(t, records, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		"damaged": string(damaged), "huge": string(huge), "head": string(records[:22]), "body": string(records[:14]), "tail": string(records[:len(records)-2]),
		"t": "a\r\nb\n\nc\rd\r", "none": "", "f": "HHaabbccF", "short": "HHaabbcF", "header": "H", "bare": "HHF",
		"f.gz": packed(t, []byte("HHaabbccF"), func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), "long": strings.Repeat("x", 2<<20),
	} {
		all[name] = &fstest.MapFile{Data: []byte(data)}
	}
	word := func(s ...string) ops.Input { return tensor.Vector(s...) }
	one := func(s string) ops.Input { return tensor.Scalar(s) }
	n := func(v int64) ops.Input { return tensor.Scalar(v) }
	for _, c := range []struct {
		name, op string
		in       []ops.Input
		want     []string
		err      string
	}{
		{"records", "TFRecordDataset", []ops.Input{word("r"), one(""), n(0)}, []string{"one", "", "three"}, ""},
		{"two files", "TFRecordDataset", []ops.Input{word("r", "r"), one(""), n(0)}, []string{"one", "", "three", "one", "", "three"}, ""},
		{"gzip", "TFRecordDataset", []ops.Input{word("r.gz"), one("GZIP"), n(0)}, []string{"one", "", "three"}, ""},
		{"zlib", "TFRecordDataset", []ops.Input{word("r.z"), one("ZLIB"), n(0)}, []string{"one", "", "three"}, ""},
		{"an offset", "TFRecordDatasetV2", []ops.Input{word("r"), one(""), n(0), tensor.Vector[int64](19)}, []string{"", "three"}, ""},
		{"no offsets", "TFRecordDatasetV2", []ops.Input{word("r"), one(""), n(0), tensor.Vector[int64]()}, []string{"one", "", "three"}, ""},
		{"wrong offsets", "TFRecordDatasetV2", []ops.Input{word("r"), one(""), n(0), tensor.Vector[int64](0, 0)}, nil, "byte_offsets"},
		{"no files", "TFRecordDataset", []ops.Input{word(), one(""), n(0)}, nil, ""},
		{"a checksum", "TFRecordDataset", []ops.Input{word("damaged"), one(""), n(0)}, nil, "checksum of a record"},
		{"a length", "TFRecordDataset", []ops.Input{word("huge"), one(""), n(0)}, nil, "checksum of a record's length"},
		{"a cut head", "TFRecordDataset", []ops.Input{word("head"), one(""), n(0)}, []string{"one"}, ""},
		{"a cut record", "TFRecordDataset", []ops.Input{word("body"), one(""), n(0)}, nil, "cut off"},
		{"a cut tail", "TFRecordDataset", []ops.Input{word("tail"), one(""), n(0)}, []string{"one", ""}, "cut off"},
		{"no such file", "TFRecordDataset", []ops.Input{word("r", "gone"), one(""), n(0)}, []string{"one", "", "three"}, "not exist"},
		{"no compression", "TFRecordDataset", []ops.Input{word("r"), one("LZ"), n(0)}, nil, "compression"},
		{"not gzip", "TFRecordDataset", []ops.Input{word("r"), one("GZIP"), n(0)}, nil, "gzip"},
		{"lines", "TextLineDataset", []ops.Input{word("t", "none", "t"), one(""), n(0)}, []string{"a", "b", "", "cd", "a", "b", "", "cd"}, ""},
		{"a line that is too long", "TextLineDataset", []ops.Input{word("long"), one(""), n(0)}, nil, "MaxOutput"},
		{"one name", "TextLineDataset", []ops.Input{one("t"), one(""), n(0)}, []string{"a", "b", "", "cd"}, ""},
		{"fixed", "FixedLengthRecordDataset", []ops.Input{word("f"), n(2), n(2), n(1), n(0)}, []string{"aa", "bb", "cc"}, ""},
		{"fixed without ends", "FixedLengthRecordDataset", []ops.Input{word("f"), n(0), n(3), n(0), n(0)}, []string{"HHa", "abb", "ccF"}, ""},
		{"fixed, gzip", "FixedLengthRecordDatasetV2", []ops.Input{word("f.gz"), n(2), n(2), n(1), n(0), one("GZIP")}, []string{"aa", "bb", "cc"}, ""},
		{"fixed, none", "FixedLengthRecordDatasetV2", []ops.Input{word("bare"), n(2), n(2), n(1), n(0), one("")}, nil, ""},
		{"fixed, too short", "FixedLengthRecordDataset", []ops.Input{word("short"), n(2), n(2), n(1), n(0)}, nil, "8 bytes"},
		{"fixed, no header", "FixedLengthRecordDataset", []ops.Input{word("header"), n(2), n(2), n(1), n(0)}, nil, "1 bytes"},
		{"records of nothing", "FixedLengthRecordDataset", []ops.Input{word("f"), n(2), n(0), n(1), n(0)}, nil, "length is 0"},
		{"names", "MatchingFilesDataset", []ops.Input{word("r*", "t")}, []string{"r", "r.gz", "r.z", "t"}, ""},
	} {
		got, err := elements(t, &engine.Files{Read: all}, c.op, c.in...)
		if !slices.Equal(got, c.want) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, error %q", c.name, got, err, c.want, c.err)
		}
		if len(c.want) == 0 {
			continue
		}
		if got, err := elements(t, nil, c.op, c.in...); len(got) > 0 || !errors.Is(err, engine.ErrNotGranted) {
			t.Errorf("%s without a grant: %q, %v", c.name, got, err)
		}
	}
}
