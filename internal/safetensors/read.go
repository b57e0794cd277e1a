package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/tensor"
)

// MaxHeader is the longest header that the format allows, in bytes.
const MaxHeader = 100_000_000

// ErrFormat is matched by errors.Is in every [Error].
var ErrFormat = errors.New("safetensors: not a valid file")

// Error reports a violation of the format's rules.
type Error struct {
	Offset int64  // offset of the fault in the file, or of its beginning
	Name   string // the tensor at fault, or ""
	What   string
	Err    error // the cause, or nil
}

// Error returns the offset and the fault.
func (e *Error) Error() string {
	s := fmt.Sprintf("safetensors: at byte %d: ", e.Offset)
	if e.Name != "" {
		s += fmt.Sprintf("tensor %q: ", e.Name)
	}
	s += e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is reports whether target is [ErrFormat].
func (e *Error) Is(target error) bool { return target == ErrFormat }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Info describes one tensor of a file.
type Info struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	// Offset is the offset of the tensor's bytes in the file, Size their number. [Write]
	// computes both; its offsets are counted from the end of the header.
	Offset, Size int64
}

// Reader reads one file. It may be used by many goroutines.
type Reader struct {
	r        io.ReaderAt
	infos    []Info // sorted by name
	metadata map[string]string
	data     int64 // offset of the data
}

// Options are the options for reading a file; nil means the defaults.
type Options struct {
	// MaxHeader is the maximum length of a header that is read, if less than the
	// format's limit: a file with holes may declare one that isn't stored on disk.
	// Default [MaxHeader].
	MaxHeader int64
}

// Open reads and checks the header; r must stay open as long as the Reader is
// used.
func Open(r io.ReaderAt, size int64, o *Options) (*Reader, error) {
	var pre [8]byte
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), pre[:]); err != nil {
		return nil, &Error{What: "the file is shorter than the header's length", Err: err}
	}
	n := binary.LittleEndian.Uint64(pre[:])
	switch {
	case n > MaxHeader:
		return nil, &Error{What: fmt.Sprintf("a header of %d bytes, the most is %d: the file is damaged, or no safetensors file", n, MaxHeader)}
	case int64(n) > size-8:
		return nil, &Error{What: fmt.Sprintf("a header of %d bytes in a file of %d: the file is cut off or damaged", n, size)}
	}
	if o != nil && o.MaxHeader > 0 && int64(n) > o.MaxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes, of which at most %d are on the disk; ReadOptions.MaxMemory raises it: %w", n, o.MaxHeader, errors.ErrUnsupported)
	}
	f := &Reader{r: r, data: 8 + int64(n)}
	err := f.parse(int64(n), size-f.data, false)
	if _, twice := repeated(f.infos); twice { // parse again, so that the error has the offset of the second
		f.infos, f.metadata = nil, nil
		err = f.parse(int64(n), size-f.data, true)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// headerText reads the header's text, and keeps the read error.
type headerText struct {
	io.Reader
	err error
}

// Read implements [io.Reader].
func (t *headerText) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

// header is one tensor's object in the header.
type header struct {
	DType   *string  `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// entrySize is about the number of bytes that the entry of a tensor with a short name takes in the header.
// It decides the first capacity of a list, and nothing else.
const entrySize = 56

// parse reads a header of n bytes, piece by piece. If names is set, repeated
// names are an error; that needs a list of all.
func (f *Reader) parse(n, dataBytes int64, names bool) error {
	section := io.NewSectionReader(f.r, 8, n)
	var first [1]byte
	if _, err := io.ReadFull(io.NewSectionReader(f.r, 8, n), first[:]); err != nil && n > 0 {
		return &Error{Offset: 8, What: "the header can't be read", Err: err}
	}
	if first[0] != '{' {
		return &Error{Offset: 8, What: "the header doesn't begin with {"}
	}
	text := &headerText{Reader: section}
	dec := json.NewDecoder(text)
	fail := func(name, what string, err error) error {
		if text.err != nil {
			return &Error{Offset: 8, What: "the header can't be read", Err: text.err}
		}
		return &Error{Offset: 8 + dec.InputOffset(), Name: name, What: what, Err: err}
	}
	if _, err := dec.Token(); err != nil {
		return fail("", "the header is no JSON", err)
	}
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fail("", "the header is no JSON", err)
		}
		name, _ := key.(string)
		if seen[name] {
			return fail(name, "the name appears twice", nil)
		}
		if names || name == metadataKey {
			seen[name] = true
		}
		if name == metadataKey {
			if err := f.parseMetadata(dec, fail); err != nil {
				return err
			}
			continue
		}
		var h header
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fail(name, "the header is no JSON", err)
		}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&h); err != nil || h.DType == nil || h.Shape == nil || len(h.Offsets) != 2 {
			return fail(name, "the entry is not dtype, shape and two data_offsets", err)
		}
		info, err := f.entry(name, h, dataBytes, fail)
		if err != nil {
			return err
		}
		if f.infos == nil { // a list that grows takes twice as much
			f.infos = make([]Info, 0, 1+(n-dec.InputOffset())/entrySize)
		}
		f.infos = append(f.infos, info)
	}
	if _, err := dec.Token(); err != nil {
		return fail("", "the header is no JSON", err)
	}
	if err := blank(io.MultiReader(dec.Buffered(), text)); err != nil {
		return fail("", "text after the header's object", nil)
	}
	return f.checkCover(dataBytes)
}

// blank returns an error if r has anything but blanks.
func blank(r io.Reader) error {
	b := make([]byte, 1<<12)
	for {
		n, err := r.Read(b)
		for _, c := range b[:n] {
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return fmt.Errorf("%q", c)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *Reader) parseMetadata(dec *json.Decoder, fail func(string, string, error) error) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fail("", "__metadata__ is no object", err)
	}
	f.metadata = map[string]string{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return fail("", "__metadata__", err)
		}
		v, err := dec.Token()
		if err != nil {
			return fail("", "__metadata__", err)
		}
		value, ok := v.(string)
		if !ok {
			return fail("", fmt.Sprintf("__metadata__ %q is no string", k), nil)
		}
		if _, dup := f.metadata[k.(string)]; dup {
			return fail("", fmt.Sprintf("__metadata__ %q stands twice", k), nil)
		}
		f.metadata[k.(string)] = value
	}
	_, err := dec.Token()
	if err != nil {
		return fail("", "__metadata__", err)
	}
	return nil
}

// entry checks one tensor's object against the space that the file has.
func (f *Reader) entry(name string, h header, dataBytes int64, fail func(string, string, error) error) (Info, error) {
	d, known := parseKind(*h.DType)
	switch {
	case d == tensor.Invalid && known:
		return Info{}, fail(name, fmt.Sprintf("elements of %s have no counterpart in TensorFlow", *h.DType), errors.ErrUnsupported)
	case d == tensor.Invalid:
		return Info{}, fail(name, fmt.Sprintf("the dtype %q is not known", *h.DType), nil)
	}
	shape := make(tensor.Shape, len(h.Shape))
	for i, n := range h.Shape {
		if n > math.MaxInt {
			return Info{}, fail(name, fmt.Sprintf("the size %d", n), nil)
		}
		shape[i] = int(n)
	}
	n, err := shape.NumElements()
	if err != nil {
		return Info{}, fail(name, "the shape", err)
	}
	a, b := h.Offsets[0], h.Offsets[1]
	if a > b || b > uint64(dataBytes) {
		return Info{}, fail(name, fmt.Sprintf("data_offsets [%d,%d] in %d bytes of data", a, b, dataBytes), nil)
	}
	if hi := int64(n); hi > math.MaxInt64/16 || uint64(hi)*uint64(d.Size()) != b-a {
		return Info{}, fail(name, fmt.Sprintf("%s%v doesn't take the %d bytes of its data_offsets", *h.DType, shape, b-a), nil)
	}
	if k := len(f.infos); k > 0 && f.infos[k-1].Shape.Equal(shape) {
		shape = f.infos[k-1].Shape // that of many tensors is one
	}
	return Info{Name: name, DType: d, Shape: shape, Offset: f.data + int64(a), Size: int64(b - a)}, nil
}

// checkCover makes sure that the tensors cover the data exactly, and sorts them
// by name.
func (f *Reader) checkCover(dataBytes int64) error {
	slices.SortFunc(f.infos, func(a, b Info) int {
		if a.Offset != b.Offset {
			return compare(a.Offset, b.Offset)
		}
		return compare(a.Size, b.Size)
	})
	at := f.data
	for _, i := range f.infos {
		switch {
		case i.Offset > at:
			return &Error{Offset: at, Name: i.Name, What: fmt.Sprintf("a hole of %d bytes before the tensor", i.Offset-at)}
		case i.Offset < at:
			return &Error{Offset: i.Offset, Name: i.Name, What: fmt.Sprintf("the tensor overlaps the one before by %d bytes", at-i.Offset)}
		}
		at += i.Size
	}
	if end := f.data + dataBytes; at != end {
		return &Error{Offset: at, What: fmt.Sprintf("%d bytes after the last tensor", end-at)}
	}
	slices.SortFunc(f.infos, func(a, b Info) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return nil
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Infos lists the tensors, sorted by name; it must not be changed.
func (f *Reader) Infos() []Info { return f.infos }

// Metadata returns the header's "__metadata__"; the caller must not change it.
// It is nil if there is none.
func (f *Reader) Metadata() map[string]string { return f.metadata }

// Info finds one tensor.
func (f *Reader) Info(name string) (Info, bool) {
	i, ok := slices.BinarySearchFunc(f.infos, name, func(i Info, name string) int {
		switch {
		case i.Name < name:
			return -1
		case i.Name > name:
			return 1
		}
		return 0
	})
	if !ok {
		return Info{}, false
	}
	return f.infos[i], true
}

// Read reads one tensor.
func (f *Reader) Read(ctx context.Context, name string) (*tensor.Tensor, error) {
	i, ok := f.Info(name)
	if !ok {
		return nil, fmt.Errorf("safetensors: no tensor is called %q", name)
	}
	t, err := tensor.Zeros(i.DType, i.Shape...)
	if err != nil {
		return nil, err
	}
	if err := f.ReadInto(ctx, name, t); err != nil {
		return nil, err
	}
	return t, nil
}

// ReadInto reads one tensor into t, which must have its type and shape. After an
// error t may hold anything.
func (f *Reader) ReadInto(ctx context.Context, name string, t *tensor.Tensor) error {
	i, ok := f.Info(name)
	switch {
	case !ok:
		return fmt.Errorf("safetensors: no tensor is called %q", name)
	case t.DType() != i.DType || !t.Shape().Equal(i.Shape):
		return fmt.Errorf("safetensors: tensor %q is %v%v, not %v%v", name, i.DType, i.Shape, t.DType(), t.Shape())
	}
	data := t.Bytes()
	const step = 16 << 20 // between two looks at ctx
	for at := 0; at < len(data); at += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := data[at:min(at+step, len(data))]
		if n, err := f.r.ReadAt(part, i.Offset+int64(at)); n < len(part) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return &Error{Offset: i.Offset + int64(at+n), Name: name, What: "can't be read", Err: err}
		}
	}
	if i.DType == tensor.Bool {
		for at, b := range data {
			if b > 1 {
				return &Error{Offset: i.Offset + int64(at), Name: name, What: "the boolean " + strconv.Itoa(int(b))}
			}
		}
	}
	toHost(data, i.DType.Swap())
	return nil
}
