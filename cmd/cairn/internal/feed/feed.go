// Package feed reads the inputs of a signature from .npz, .npy and JSON, and
// writes its outputs to such files. JSON is TensorFlow Serving's: "inputs" or
// "instances", numbers in nested lists, strings as text or as {"b64": …}.
package feed

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// Read returns the arrays of a file, by the names of the inputs; of stdin if the
// path is "-". What the file holds says its kind, not its name: an .npz, an .npy
// for the only input, or JSON, which takes its element types from the inputs.
func Read(ctx context.Context, path string, stdin io.Reader, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	in, err := read(ctx, path, stdin, inputs)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return in, err // an *fs.PathError names the path
	}
	if path == "-" {
		path = "stdin"
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

func read(ctx context.Context, path string, stdin io.Reader, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return parse(ctx, f, info.Size(), inputs)
		}
		stdin = f // a pipe
	}
	b, err := io.ReadAll(stdin)
	if err != nil {
		return nil, err
	}
	return parse(ctx, bytes.NewReader(b), int64(len(b)), inputs)
}

// parse tells the three kinds apart by their first bytes.
func parse(ctx context.Context, r io.ReaderAt, size int64, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	head := make([]byte, 6)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK")):
		return readNPZ(ctx, r, size, inputs)
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		return readNPY(io.NewSectionReader(r, 0, size), inputs)
	}
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	in, err := ParseJSON(b, inputs)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("neither .npz, .npy nor JSON: %w", err)
	}
	return in, err
}

func readNPZ(ctx context.Context, r io.ReaderAt, size int64, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	z, err := tensor.OpenNPZ(r, size, nil)
	if err != nil {
		return nil, err
	}
	in := map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		t, err := z.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(inputs, func(x savedmodel.TensorInfo) bool { return x.Name == name })
		if i >= 0 {
			if t, err = narrow(t, inputs[i].DType); err != nil {
				return nil, err
			}
		}
		in[name] = t
	}
	return in, nil
}

func readNPY(r io.Reader, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	if len(inputs) != 1 {
		return nil, fmt.Errorf("an .npy holds one array and the signature takes %d: an .npz has names", len(inputs))
	}
	t, err := tensor.ReadNPY(r)
	if err != nil {
		return nil, err
	}
	t, err = narrow(t, inputs[0].DType)
	return map[string]*tensor.Tensor{inputs[0].Name: t}, err
}

// narrow returns the array in an input's type where numpy lacks that type:
// bfloat16 and float8 stand in its files as float32.
func narrow(t *tensor.Tensor, d tensor.DType) (*tensor.Tensor, error) {
	if t.DType() == tensor.Float32 && widened(d) {
		return tensor.Cast(t, d)
	}
	return t, nil
}

// widened reports whether numpy's files hold the type as float32.
func widened(d tensor.DType) bool {
	name := d.String()
	return d == tensor.BFloat16 || strings.HasPrefix(name, "float8") || strings.HasPrefix(name, "float4")
}

// ParseJSON returns the arrays of a request as TensorFlow Serving takes them.
func ParseJSON(b []byte, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var req struct{ Inputs, Instances any }
	if err := d.Decode(&req); err != nil {
		return nil, err
	}
	values := map[string]any{}
	switch {
	case req.Inputs != nil && req.Instances != nil:
		return nil, errors.New(`it has both "inputs" and "instances"`)
	case req.Instances != nil:
		rows, ok := req.Instances.([]any)
		if !ok {
			return nil, errors.New(`"instances" isn't a list`)
		}
		if err := transpose(rows, inputs, values); err != nil {
			return nil, err
		}
	case req.Inputs != nil:
		if m, ok := req.Inputs.(map[string]any); ok && !isBytes(m) {
			values = m
			break
		}
		if len(inputs) != 1 {
			return nil, fmt.Errorf(`"inputs" must be an object: there are %d inputs`, len(inputs))
		}
		values[inputs[0].Name] = req.Inputs
	default:
		return nil, errors.New(`it has neither "inputs" nor "instances"`)
	}
	in := map[string]*tensor.Tensor{}
	for name, v := range values {
		i := slices.IndexFunc(inputs, func(x savedmodel.TensorInfo) bool { return x.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no input %q: the signature takes %s", name, namesOf(inputs))
		}
		t, err := array(v, inputs[i].DType)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", name, err)
		}
		in[name] = t
	}
	return in, nil
}

// namesOf lists the names of inputs.
func namesOf(inputs []savedmodel.TensorInfo) string {
	names := make([]string, len(inputs))
	for i, x := range inputs {
		names[i] = strconv.Quote(x.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// transpose makes of a list of rows a list an input.
func transpose(rows []any, inputs []savedmodel.TensorInfo, values map[string]any) error {
	for i, row := range rows {
		m, ok := row.(map[string]any)
		if !ok || isBytes(m) {
			if len(inputs) != 1 {
				return fmt.Errorf("instance %d must be an object: there are %d inputs", i, len(inputs))
			}
			m = map[string]any{inputs[0].Name: row}
		}
		for name, v := range m {
			list, _ := values[name].([]any)
			if len(list) != i {
				return fmt.Errorf("instance %d has %q, another one hasn't", i, name)
			}
			values[name] = append(list, v)
		}
	}
	for name, v := range values {
		if len(v.([]any)) != len(rows) {
			return fmt.Errorf("not every instance has %q", name)
		}
	}
	return nil
}

func isBytes(m map[string]any) bool {
	_, ok := m["b64"].(string)
	return ok && len(m) == 1
}

// maxRank is how deep lists may nest.
const maxRank = 64

// array makes a tensor of nested lists.
func array(v any, d tensor.DType) (*tensor.Tensor, error) {
	a := &flattener{dtype: d}
	if err := a.add(v, 0); err != nil {
		return nil, err
	}
	switch {
	case d == tensor.String:
		return tensor.FromStrings(d, a.text, a.shape...)
	case d == tensor.Bool:
		return tensor.New(a.bools, a.shape...)
	case d == tensor.Uint64:
		return tensor.New(a.unsigned, a.shape...)
	case a.integer():
		t, err := tensor.New(a.ints, a.shape...)
		if err != nil {
			return nil, err
		}
		return tensor.Cast(t, d)
	}
	t, err := tensor.New(a.floats, a.shape...)
	if err != nil {
		return nil, err
	}
	return tensor.Cast(t, d)
}

// flattener collects the elements of nested lists.
type flattener struct {
	dtype    tensor.DType
	shape    []int
	closed   bool // whether the rank is known
	text     []string
	bools    []bool
	ints     []int64
	unsigned []uint64
	floats   []float64
}

func (a *flattener) integer() bool {
	switch a.dtype {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32:
		return true
	}
	return false
}

func (a *flattener) add(v any, depth int) error {
	list, ok := v.([]any)
	if !ok {
		if a.closed && depth != len(a.shape) {
			return errors.New("its lists aren't all as deep")
		}
		a.closed = true
		return a.element(v)
	}
	switch {
	case depth >= maxRank || a.closed && depth >= len(a.shape):
		return errors.New("its lists aren't all as deep")
	case depth >= len(a.shape):
		a.shape = append(a.shape, len(list))
		if len(list) == 0 {
			a.closed = true
		}
	case a.shape[depth] != len(list):
		return fmt.Errorf("its lists aren't all as long: %d and %d", a.shape[depth], len(list))
	}
	for _, x := range list {
		if err := a.add(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (a *flattener) element(v any) error {
	if m, ok := v.(map[string]any); ok && isBytes(m) && a.dtype == tensor.String {
		b, err := base64.StdEncoding.DecodeString(m["b64"].(string))
		a.text = append(a.text, string(b))
		return err
	}
	switch v := v.(type) {
	case string:
		if a.dtype == tensor.String {
			a.text = append(a.text, v)
			return nil
		}
		switch v { // what JSON has no numbers for
		case "NaN":
			a.floats = append(a.floats, math.NaN())
			return nil
		case "Infinity":
			a.floats = append(a.floats, math.Inf(1))
			return nil
		case "-Infinity":
			a.floats = append(a.floats, math.Inf(-1))
			return nil
		}
	case bool:
		if a.dtype == tensor.Bool {
			a.bools = append(a.bools, v)
			return nil
		}
	case json.Number:
		return a.number(v)
	}
	return fmt.Errorf("%v is no %v", v, a.dtype)
}

func (a *flattener) number(n json.Number) (err error) {
	switch {
	case a.dtype == tensor.String || a.dtype == tensor.Bool:
		return fmt.Errorf("%v is no %v", n, a.dtype)
	case a.dtype == tensor.Uint64:
		var x uint64
		x, err = strconv.ParseUint(n.String(), 10, 64)
		a.unsigned = append(a.unsigned, x)
	case a.integer():
		var x int64
		x, err = strconv.ParseInt(n.String(), 10, 64)
		size := 8 * a.dtype.Size()
		if lo, hi := int64(-1)<<(size-1), int64(1)<<(size-1)-1; err == nil && strings.HasPrefix(a.dtype.String(), "int") && (x < lo || x > hi) {
			err = fmt.Errorf("%v is no %v", n, a.dtype)
		} else if strings.HasPrefix(a.dtype.String(), "uint") && (x < 0 || x >= 1<<size) {
			err = fmt.Errorf("%v is no %v", n, a.dtype)
		}
		a.ints = append(a.ints, x)
	default:
		var x float64
		x, err = n.Float64()
		a.floats = append(a.floats, x)
	}
	return err
}

// WriteNPZ writes the outputs as arrays of a .npz file, in the order of their
// names.
func WriteNPZ(w io.Writer, out map[string]*tensor.Tensor) error {
	z := tensor.NewNPZWriter(w, nil)
	for _, name := range names(out) {
		if err := z.Add(name, out[name]); err != nil {
			return err
		}
	}
	return z.Close()
}

func names(m map[string]*tensor.Tensor) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// JSON returns the outputs as TensorFlow Serving gives them: {"outputs": {…}}.
func JSON(out map[string]*tensor.Tensor) (map[string]any, error) {
	values := map[string]any{}
	for name, t := range out {
		v, err := nested(t)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		values[name] = v
	}
	return map[string]any{"outputs": values}, nil
}

// nested returns a tensor as nested lists.
func nested(t *tensor.Tensor) (any, error) {
	var elem func(i int) any
	switch d := t.DType(); d {
	case tensor.String:
		elem = func(i int) any {
			if s := t.Strings()[i]; utf8.ValidString(s) {
				return s
			}
			return map[string]string{"b64": base64.StdEncoding.EncodeToString([]byte(t.Strings()[i]))}
		}
	case tensor.Bool:
		elem = func(i int) any { return tensor.Values[bool](t)[i] }
	case tensor.Uint64:
		elem = func(i int) any { return tensor.Values[uint64](t)[i] }
	default:
		to := tensor.Float64
		if (&flattener{dtype: d}).integer() {
			to = tensor.Int64
		}
		c, err := tensor.Cast(t, to)
		if err != nil {
			return nil, err
		}
		elem = func(i int) any { return tensor.Values[int64](c)[i] }
		if to == tensor.Float64 {
			bits := 64
			if d.Size() <= 4 {
				bits = 32
			}
			elem = func(i int) any { return number(tensor.Values[float64](c)[i], bits) }
		}
	}
	at := 0
	var build func(s tensor.Shape) any
	build = func(s tensor.Shape) any {
		if len(s) == 0 {
			at++
			return elem(at - 1)
		}
		list := make([]any, s[0])
		for i := range list {
			list[i] = build(s[1:])
		}
		return list
	}
	return build(t.Shape()), nil
}

// number returns the shortest JSON number that stands for x, and words for what
// JSON has no numbers for.
func number(x float64, bits int) any {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return json.Number(strconv.FormatFloat(x, 'g', -1, bits))
}
