package feed

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// info describes an input; without sizes its shape is unknown.
func info(name string, d tensor.DType, dims ...int) savedmodel.TensorInfo {
	x := savedmodel.TensorInfo{Name: name, DType: d}
	if dims != nil {
		x.Shape = graph.ShapeOf(dims...)
	}
	return x
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string, opts *Options, inputs ...savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Read(t.Context(), inputs, opts)
}

func TestRequestsTellSignatureAndForm(t *testing.T) {
	for text, want := range map[string]string{
		`{"instances": [1]}`:                         " instances false",
		`{"signature_name": "serve", "inputs": [1]}`: "serve inputs false",
		`{"examples": [{"a": 1}]}`:                   " examples false",
	} {
		s, err := Open("-", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		form, named := s.Form()
		if got := fmt.Sprint(s.Signature(), " ", form, " ", named); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"inputs": 1} {"inputs": 2}`: "stdin: byte 14: something follows", "hello": "stdin: neither a request as JSON", `{"input": 1}`: "did you mean inputs?", "": "nothing is in it",
	} {
		if _, err := Open("-", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestExamplesGoToTheOnlyInput(t *testing.T) {
	path := write(t, "in.json", []byte(`{"examples": [{"a": 1}, {"a": 2}]}`))
	in, err := read(t, path, nil, info("examples", tensor.String, -1))
	if err != nil || len(in["examples"].Strings()) != 2 || !strings.Contains(in["examples"].Strings()[0], "a") {
		t.Error(in, err)
	}
	if _, err := read(t, path, nil, info("x", tensor.Float32)); err == nil || !strings.Contains(err.Error(), "not examples") {
		t.Error(err)
	}
}

func TestAnUnknownArrayIsNamed(t *testing.T) {
	var b bytes.Buffer
	z := tensor.NewNPZWriter(&b, nil)
	if err := errors.Join(z.Add("x", tensor.Scalar[float32](1)), z.Add("y_train", tensor.Scalar[float32](1)), z.Close()); err != nil {
		t.Fatal(err)
	}
	path := write(t, "in.npz", b.Bytes())
	if _, err := read(t, path, nil, info("x", tensor.Float32)); err == nil || !strings.HasSuffix(err.Error(), `in.npz: it holds the array "y_train", and there is no such input; the signature takes "x"`) {
		t.Error(err)
	}
	if in, err := read(t, path, nil, info("x", tensor.BFloat16), info("y_train", tensor.Float32)); err != nil || in["x"].DType() != tensor.BFloat16 {
		t.Error(in, err)
	}
}

func TestLiterals(t *testing.T) {
	array := func(name string) string {
		var b bytes.Buffer
		if err := tensor.WriteNPY(&b, tensor.Vector[float32](1, 2), nil); err != nil {
			t.Fatal(err)
		}
		return write(t, name, b.Bytes())
	}
	one, two := []savedmodel.TensorInfo{info("x", tensor.Float32)}, []savedmodel.TensorInfo{info("x", tensor.Float32), info("y=z", tensor.String), info("y", tensor.String)}
	for _, c := range []struct {
		inputs  []savedmodel.TensorInfo
		literal []string
		want    string // of the tensors, or an error after "!"
	}{
		{one, []string{"x=[[1, 2]]"}, "x [[1. 2.]]"},
		{one, []string{"[1, NaN]"}, "x [ 1. nan]"},
		{one, []string{"-5"}, "x -5.0"},
		{two, []string{"x=1", `y={"b64": "YT1i"}`}, "x 1.0 y b'a=b'"},
		{two, []string{`y="a=b"`}, "y b'a=b'"},
		{one, []string{"x=@" + array("a.npy")}, "x [1. 2.]"},
		{one, []string{"@" + array("a.npy")}, "x [1. 2.]"},
		{one, []string{"x=[1, 2"}, "!x: the JSON ends early"},
		{one, []string{"x=[1, \"a\"]"}, `!x[1]: the string "a" can't be a float32`},
		{one, []string{"x=1", "x=2"}, `!the input "x" is given twice`},
		{one, []string{"z=1"}, `!there is no input "z"; the signature takes "x"`},
		{two, []string{"[1]"}, `![1] has no name (want NAME=VALUE, since the signature takes 3 inputs: "x", "y=z", "y")`},
		{two, []string{"y=word"}, `!y: the JSON is broken: got 'w' (want a value); a string needs quotes: y='"word"'`},
		{one, []string{"x=@none"}, "!none"},
		{one, []string{"x=@" + write(t, "r.json", []byte(`{"inputs": 1}`))}, `!the input "x" takes an .npy`},
	} {
		in, err := map[string]*tensor.Tensor{}, error(nil)
		for _, l := range c.literal {
			if err == nil {
				err = AddLiteral(t.Context(), in, l, nil, c.inputs, nil)
			}
		}
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", c.literal, err, want)
			}
			continue
		}
		got := ""
		for _, x := range c.inputs {
			if in[x.Name] != nil {
				got += " " + x.Name + " " + in[x.Name].String()
			}
		}
		if err != nil || strings.TrimSpace(got) != c.want {
			t.Errorf("%q: %q, %v", c.literal, got, err)
		}
	}
}

func TestTables(t *testing.T) {
	for _, c := range []struct {
		name, csv string
		inputs    []savedmodel.TensorInfo
		want      string
	}{
		{"a matrix", "1,2\n3,4.5\n", []savedmodel.TensorInfo{info("x", tensor.Float32, -1, 2)}, "x [[1.  2. ] [3.  4.5]]"},
		{"a header", "a,b\n1,nan\n", []savedmodel.TensorInfo{info("x", tensor.Float32, -1, 2)}, "note the first line of the table is taken for a header: a, b x [[ 1. nan]]"},
		{"a vector", "1\n-3\n", []savedmodel.TensorInfo{info("x", tensor.Int64, -1)}, "x [ 1 -3]"},
		{"strings", "hello,\"a \"\"b\"\"\"\n", []savedmodel.TensorInfo{info("x", tensor.String, -1, 2)}, `x [[b'hello' b'a "b"']]`},
		{"columns", "\ufeffb, a\n1,x\n2,y\n", []savedmodel.TensorInfo{info("a", tensor.String, -1), info("b", tensor.Int32, -1, 1)}, "a [b'x' b'y'] b [[1] [2]]"},
		{"a cell that overflows", "1\n300\n", []savedmodel.TensorInfo{info("x", tensor.Int8)}, "!line 2, column 1: 300 is out of range"},
		{"a cell that is no number", "1,2\n3,4x\n", []savedmodel.TensorInfo{info("x", tensor.Float32)}, `!line 2, column 2: "4x" is no number`},
		{"a cell that is JSON", "1,2\n3,\"4,5\"\n", []savedmodel.TensorInfo{info("x", tensor.Float32)}, `!line 2, column 2: "4,5" is no number`},
		{"an empty cell", "1,2\n3,\n", []savedmodel.TensorInfo{info("x", tensor.Float32)}, "!line 2, column 2: the cell is empty"},
		{"a short line", "1,2\n3\n", []savedmodel.TensorInfo{info("x", tensor.Float32)}, "!line 2: it has more or fewer cells"},
		{"no names", "1,2\n", []savedmodel.TensorInfo{info("a", tensor.Float32), info("b", tensor.Float32)}, `!line 1: the signature takes 2 inputs (want a first line with their names: "a", "b")`},
		{"a name that is missing", "a\n1\n", []savedmodel.TensorInfo{info("a", tensor.Float32), info("b", tensor.Float32)}, `!line 1: the input "b" is missing`},
		{"another width", "1,2,3\n", []savedmodel.TensorInfo{info("x", tensor.Float32, -1, 2)}, "!x: the shape is [1,3] (want float32[?,2])"},
		{"nothing", "", []savedmodel.TensorInfo{info("x", tensor.Float32)}, "!the table is empty"},
		{"a header alone", "a,b\n", []savedmodel.TensorInfo{info("x", tensor.Float32)}, "!the table has a header and no rows"},
	} {
		got := ""
		opts := &Options{Note: func(format string, args ...any) { got += " note " + fmt.Sprintf(format, args...) }}
		in, err := read(t, write(t, "in.csv", []byte(c.csv)), opts, c.inputs...)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v, want %q", c.name, in, err, want)
			}
			continue
		}
		for _, x := range c.inputs {
			if in[x.Name] != nil {
				got += " " + x.Name + " " + strings.Join(strings.Fields(in[x.Name].String()), " ")
			}
		}
		if want := strings.Join(strings.Fields(c.want), " "); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, want)
		}
	}
}

func drawn(t *testing.T, encode func(io.Writer, image.Image) error, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesAreInputs(t *testing.T) {
	asJPEG := func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, &jpeg.Options{Quality: 100}) }
	red, small := drawn(t, png.Encode, 4, 2, color.NRGBA{255, 0, 51, 255}), drawn(t, asJPEG, 2, 2, color.Gray{128})
	for _, c := range []struct {
		name  string
		file  []byte
		input savedmodel.TensorInfo
		opts  Options
		shape tensor.Shape
		want  []float64 // of the first pixel
		notes string
	}{
		{"as it is", red, info("x", tensor.Uint8, -1, -1, -1, 3), Options{}, tensor.Shape{1, 2, 4, 3}, []float64{255, 0, 51}, ""},
		{"of any shape", red, info("x", tensor.Uint8), Options{}, tensor.Shape{1, 2, 4, 3}, []float64{255, 0, 51}, ""},
		{"no batch", red, info("x", tensor.Uint8, 2, 4, 3), Options{}, tensor.Shape{2, 4, 3}, []float64{255, 0, 51}, ""},
		{"with opacity", red, info("x", tensor.Uint8, 2, 4, 4), Options{}, tensor.Shape{2, 4, 4}, []float64{255, 0, 51, 255}, ""},
		{"in floats", red, info("x", tensor.Float32, -1, 2, 4, 3), Options{}, tensor.Shape{1, 2, 4, 3}, []float64{255, 0, 51}, "the picture's values are 0 for black to 255 for white"},
		{"in a range", red, info("x", tensor.Float16, -1, 2, 4, 3), Options{Low: -1, High: 1}, tensor.Shape{1, 2, 4, 3}, []float64{1, -1, -0.60009765625}, "the picture's values are -1 for black to 1 for white"},
		{"scaled", red, info("x", tensor.Uint8, -1, 8, 8, 3), Options{}, tensor.Shape{1, 8, 8, 3}, []float64{255, 0, 51}, "the picture of 4 by 2 pixels is scaled to 8 by 8"},
		{"grey JPEG", small, info("x", tensor.Uint8, -1, 2, 2, 1), Options{}, tensor.Shape{1, 2, 2, 1}, []float64{128}, ""},
	} {
		var notes []string
		c.opts.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
		in, err := read(t, write(t, "in", c.file), &c.opts, c.input)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := in["x"].Float64s()
		if err != nil || in["x"].DType() != c.input.DType || !in["x"].Shape().Equal(c.shape) || fmt.Sprint(got[:len(c.want)]) != fmt.Sprint(c.want) || strings.Join(notes, "; ") != c.notes {
			t.Errorf("%s: %v %v, %q, %v", c.name, in["x"].Shape(), got[:len(c.want)], notes, err)
		}
	}
	if in, err := read(t, write(t, "in", red), nil, info("x", tensor.String, -1)); err != nil || in["x"].Strings()[0] != string(red) || !in["x"].Shape().Equal(tensor.Shape{1}) {
		t.Error(in, err)
	}
	for want, x := range map[string]savedmodel.TensorInfo{
		"can't be int32": info("x", tensor.Int32, -1, 2, 4, 3), "can't have the shape [?,4]": info("x", tensor.Float32, -1, 4),
		"1, 3 or 4 channels": info("x", tensor.Uint8, -1, 3, 224, 224), "is one string": info("x", tensor.String, 2),
	} {
		if _, err := read(t, write(t, "in", red), nil, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", x, err, want)
		}
	}
	for _, broken := range [][]byte{red[:40], small[:20], []byte("\x89PNG\r\n\x1a\n")} {
		if _, err := read(t, write(t, "in", broken), nil, info("x", tensor.Uint8)); err == nil || !strings.Contains(err.Error(), "can't be read") {
			t.Error(err)
		}
	}
	if _, err := read(t, write(t, "in", red), nil, info("x", tensor.Uint8), info("y", tensor.Uint8)); err == nil || !strings.Contains(err.Error(), `takes 2: "x", "y"`) {
		t.Error(err)
	}
}

func TestAnswersHaveTheFormOfTheirRequests(t *testing.T) {
	y := map[string]*tensor.Tensor{"y": tensor.Vector[float32](1, 2)}
	inf := map[string]*tensor.Tensor{"y": tensor.Must(tensor.Cast(tensor.Must(tensor.New([]complex64{1 + 2i}, 1)), tensor.Complex64))}
	for _, c := range []struct {
		a    Answer
		want string
	}{
		{Answer{Outputs: y, Form: rest.Rows}, `{"predictions":[1.0,2.0]}`},
		{Answer{Outputs: y, Form: rest.Columns}, `{"outputs":[1.0,2.0]}`},
		{Answer{Outputs: y, Form: rest.Columns, Named: true}, `{"outputs":{"y":[1.0,2.0]}}`},
		{Answer{Outputs: inf, Form: rest.Columns}, `{"outputs":[[1.0,2.0]]}`},
		{Answer{Outputs: y, Form: rest.Examples, Examples: 2}, `{"outputs":[1.0,2.0]}`},
		{Answer{Outputs: map[string]*tensor.Tensor{"outputs": y["y"]}, Form: rest.Examples, Examples: 2, Signature: &savedmodel.SignatureDef{Method: regressMethod}}, `{"results":[1.0,2.0]}`},
		{Answer{Outputs: map[string]*tensor.Tensor{"scores": tensor.Must(tensor.New([]float32{1, 2}, 2, 1))}, Form: rest.Examples, Examples: 2, Signature: &savedmodel.SignatureDef{Method: classifyMethod}}, `{"results":[[["",1.0]],[["",2.0]]]}`},
		{Answer{}, `{"outputs":{}}`},
	} {
		var b strings.Builder
		if err := c.a.WriteJSON(&b, false); err != nil || b.String() != c.want+"\n" {
			t.Errorf("%s, %v, want %s", b.String(), err, c.want)
		}
	}
	var b strings.Builder
	nan := Answer{Outputs: map[string]*tensor.Tensor{"y": tensor.Vector(complex64(complex(0, 1)))}}
	if err := nan.WriteJSONWith(&b, []Field{{"n", 1}}); err != nil || b.String() != `{"outputs":[[0.0,1.0]],"n":1}`+"\n" {
		t.Error(b.String(), err)
	}
}
