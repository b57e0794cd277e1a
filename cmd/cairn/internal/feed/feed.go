// Package feed reads the inputs of a signature from a user's files: requests of
// TensorFlow Serving's REST API, .npz and .npy, pictures, .csv, literals. It writes
// the outputs as JSON, .npz and pictures.
package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// Options are the settings for reading inputs; nil means the defaults.
type Options struct {
	// Low and High are the numbers that the values 0 and 255 of a picture become in
	// a floating input. Default, if both are 0: 0 and 255.
	Low, High float64
	// Note receives messages about changes to the data, such as a picture's new
	// size. Default: they are dropped.
	Note func(format string, args ...any)
}

func (o *Options) note(format string, args ...any) {
	if o != nil && o.Note != nil {
		o.Note(format, args...)
	}
}

// Source is a file with inputs whose kind is known, and whose values are decoded
// once the signature is.
type Source struct {
	path    string // "stdin" for stdin
	r       io.ReaderAt
	size    int64
	close   func() error
	kind    kind
	request *rest.Request // of a request
}

type kind uint8

const (
	request kind = iota
	npz
	npy
	picture
	csvFile
)

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	jpegMagic = "\xff\xd8\xff"
)

// Open opens a file, or stdin if the path is "-". The contents of the file
// determine its kind, not its name, except for .csv: an .npz, an .npy, a picture
// (PNG or JPEG), or a request as JSON.
func Open(path string, stdin io.Reader) (*Source, error) {
	s, err := open(path, stdin)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return s, err // an *fs.PathError names the path
	}
	if path == "-" {
		path = "stdin"
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

func open(path string, stdin io.Reader) (*Source, error) {
	s := &Source{path: path, close: func() error { return nil }}
	if path == "-" {
		s.path = "stdin"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.r, s.size, s.close = f, info.Size(), f.Close
		} else {
			defer f.Close()
			stdin = f // a pipe
		}
	}
	if s.r == nil {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return nil, err
		}
		s.r, s.size = bytes.NewReader(b), int64(len(b))
	}
	err := s.recognize(strings.EqualFold(filepath.Ext(path), ".csv"))
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// recognize determines the kind from the first bytes.
func (s *Source) recognize(isCSV bool) error {
	head := make([]byte, 8)
	n, err := s.r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	for _, x := range []struct {
		magic string
		kind  kind
	}{{"PK", npz}, {"\x93NUMPY", npy}, {pngMagic, picture}, {jpegMagic, picture}} {
		if bytes.HasPrefix(head, []byte(x.magic)) {
			s.kind = x.kind
			return nil
		}
	}
	if isCSV {
		s.kind = csvFile
		return nil
	}
	b, err := s.bytes()
	if err != nil {
		return err
	}
	if s.request, err = rest.ParseRequest(b); err != nil {
		first := bytes.TrimLeft(b, "\ufeff \t\r\n")
		if len(first) == 0 {
			return errors.New("nothing is in it (want a request as JSON, .npz, .npy, PNG, JPEG or .csv)")
		}
		if first[0] != '{' {
			return errors.New("neither a request as JSON, .npz, .npy, PNG, JPEG nor .csv")
		}
	}
	return err
}

func (s *Source) bytes() ([]byte, error) { return io.ReadAll(io.NewSectionReader(s.r, 0, s.size)) }

// Close closes the file.
func (s *Source) Close() error { return s.close() }

// Signature returns the name of the signature that a request asks for; empty if it
// leaves that open, or the source is no request.
func (s *Source) Signature() string {
	if s.request == nil {
		return ""
	}
	return s.request.Signature
}

// Form returns the form of a request, which the answer has too. A source that is
// no request is answered by column, with the names of all outputs: named is true.
func (s *Source) Form() (form rest.Form, named bool) {
	if s.request == nil {
		return rest.Columns, true
	}
	return s.request.Form(), false
}

// Read returns the inputs by their names.
func (s *Source) Read(ctx context.Context, inputs []savedmodel.TensorInfo, opts *Options) (map[string]*tensor.Tensor, error) {
	in, err := s.read(ctx, inputs, opts)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.path, err)
	}
	return in, err
}

func (s *Source) read(ctx context.Context, inputs []savedmodel.TensorInfo, opts *Options) (map[string]*tensor.Tensor, error) {
	switch s.kind {
	case npz:
		return readNPZ(ctx, s.r, s.size, inputs)
	case npy:
		return s.only(inputs, "an .npy holds one array", func(x savedmodel.TensorInfo) (*tensor.Tensor, error) {
			t, err := tensor.ReadNPY(io.NewSectionReader(s.r, 0, s.size))
			if err != nil {
				return nil, err
			}
			return narrow(t, x.DType)
		})
	case picture:
		return s.only(inputs, "a picture is one input", func(x savedmodel.TensorInfo) (*tensor.Tensor, error) {
			b, err := s.bytes()
			if err != nil {
				return nil, err
			}
			return readPicture(b, specOf(x), opts)
		})
	case csvFile:
		return readCSV(io.NewSectionReader(s.r, 0, s.size), specs(inputs), opts)
	}
	if s.request.Form() != rest.Examples {
		return s.request.Tensors(specs(inputs))
	}
	return s.only(inputs, "examples are one input", func(x savedmodel.TensorInfo) (*tensor.Tensor, error) {
		if x.DType != tensor.String {
			return nil, fmt.Errorf("the signature takes %v, not examples", x)
		}
		return s.request.Serialized()
	})
}

// only returns the value of a signature's only input.
func (s *Source) only(inputs []savedmodel.TensorInfo, what string, read func(savedmodel.TensorInfo) (*tensor.Tensor, error)) (map[string]*tensor.Tensor, error) {
	if len(inputs) != 1 {
		return nil, fmt.Errorf("%s, and the signature takes %d: %s; a literal NAME=@FILE, an .npz or a request as JSON names them", what, len(inputs), names(inputs))
	}
	t, err := read(inputs[0])
	return map[string]*tensor.Tensor{inputs[0].Name: t}, err
}

// names lists the names of inputs.
func names(inputs []savedmodel.TensorInfo) string {
	if len(inputs) == 0 {
		return "none"
	}
	list := make([]string, len(inputs))
	for i, x := range inputs {
		list[i] = fmt.Sprintf("%q", x.Name)
	}
	return strings.Join(list, ", ")
}

// specOf describes an input for package rest.
func specOf(x savedmodel.TensorInfo) rest.Spec {
	return rest.Spec{Name: x.Name, DType: x.DType, Shape: x.Shape.Dims(), Optional: x.Default != nil}
}

func specs(inputs []savedmodel.TensorInfo) []rest.Spec {
	list := make([]rest.Spec, len(inputs))
	for i, x := range inputs {
		list[i] = specOf(x)
	}
	return list
}

func readNPZ(ctx context.Context, r io.ReaderAt, size int64, inputs []savedmodel.TensorInfo) (map[string]*tensor.Tensor, error) {
	z, err := tensor.OpenNPZ(r, size, nil)
	if err != nil {
		return nil, err
	}
	in := map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		i := slices.IndexFunc(inputs, func(x savedmodel.TensorInfo) bool { return x.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("it holds the array %q, and there is no such input; the signature takes %s", name, names(inputs))
		}
		t, err := z.Read(ctx, name)
		if err == nil {
			t, err = narrow(t, inputs[i].DType)
		}
		if err != nil {
			return nil, err
		}
		in[name] = t
	}
	return in, nil
}

// narrow returns the array in an input's type if numpy lacks that type: its
// files store bfloat16 and float8 as float32.
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
