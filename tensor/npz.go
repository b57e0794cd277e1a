package tensor

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/zipfile"
)

// NPZ reads a .npz file, numpy's zip of arrays. It reads an array when asked,
// and may be used by many goroutines.
type NPZ struct {
	files map[string]*zip.File // by name, without ".npy"
	names []string
	size  int64  // of the file
	total uint64 // decompressed size of all arrays
	most  uint64 // the largest total that a read accepts
}

// NPZOptions are the options for reading a .npz file; nil means the defaults.
type NPZOptions struct {
	// MaxSize is the most bytes that the arrays of a file may take together once
	// they are decompressed; reading any array of a file with more is an error.
	// Default: 64 MiB plus 16 times the file's size, so that a small file can't
	// fill the memory. The default is Cairn's and may change.
	MaxSize int64
}

func (o *NPZOptions) maxSize(file int64) uint64 {
	if o == nil || o.MaxSize <= 0 {
		return 64<<20 + 16*uint64(file)
	}
	return uint64(o.MaxSize)
}

// OpenNPZ reads the list of arrays; r must stay open as long as the NPZ is
// used; nil options mean the defaults. Entries of the zip whose names don't end in
// .npy are left out. Two arrays of one name are an error. So are arrays that together
// take more compressed bytes than the file has: their bytes overlap.
func OpenNPZ(r io.ReaderAt, size int64, opts *NPZOptions) (*NPZ, error) {
	zr, err := zipfile.Open(r, size)
	if err != nil {
		return nil, &NPYError{What: "the archive can't be read", Err: err}
	}
	z := &NPZ{files: make(map[string]*zip.File), size: size, most: opts.maxSize(size)}
	var packed uint64
	for _, f := range zr.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if _, dup := z.files[name]; dup {
			return nil, &NPYError{Name: name, What: "the file holds two arrays of this name"}
		}
		if packed += f.CompressedSize64; f.CompressedSize64 > uint64(size) || packed > uint64(size) {
			return nil, &NPYError{Name: name, What: fmt.Sprintf("the zip entries up to here declare %d bytes in a file of %d", packed, size)}
		}
		if z.total += f.UncompressedSize64; z.total < f.UncompressedSize64 {
			return nil, &NPYError{Name: name, What: "the sizes of the zip entries overflow 64 bits"}
		}
		z.files[name] = f
		z.names = append(z.names, name)
	}
	slices.Sort(z.names)
	return z, nil
}

// Names returns the arrays' names, sorted, without ".npy".
func (z *NPZ) Names() []string { return slices.Clone(z.names) }

// Header reads the description of one array, not its data.
func (z *NPZ) Header(name string) (*NPYHeader, error) {
	h, rc, err := z.open(name)
	if err != nil {
		return nil, err
	}
	return h, rc.Close()
}

// openData opens an array whose data is to be read.
func (z *NPZ) openData(ctx context.Context, name string) (*NPYHeader, io.ReadCloser, error) {
	h, rc, err := z.open(name)
	if err != nil {
		return nil, nil, err
	}
	need := z.total
	if h.DType == String { // a string takes more in memory than its bytes
		n, _ := h.Shape.NumElements()
		need = max(need, uint64(h.Size)+uint64(n)*16)
	}
	if need > z.most {
		rc.Close()
		return nil, nil, &NPYError{Name: name, What: fmt.Sprintf("the arrays of this file of %d bytes take %d once they are decompressed, the most is %d; NPZOptions.MaxSize raises it", z.size, need, z.most), Err: errors.ErrUnsupported}
	}
	return h, &cancelReader{ctx, rc}, nil
}

// cancelReader ends with its context.
type cancelReader struct {
	ctx context.Context
	io.ReadCloser
}

// Read reads some of a long array at a time, so that the context is heeded.
func (r *cancelReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p[:min(len(p), 1<<20)])
}

// Read reads one array whole; the zip's checksum of it is verified.
func (z *NPZ) Read(ctx context.Context, name string) (*Tensor, error) {
	h, rc, err := z.openData(ctx, name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	t, err := h.readData(rc, z.files[name].Method == zip.Store)
	if err == nil {
		err = atEnd(rc)
	}
	return t, named(err, name)
}

// ReadInto works like Read, but reads into a tensor of the array's type and shape.
// It doesn't support strings. After an error the contents of dst are undefined.
func (z *NPZ) ReadInto(ctx context.Context, name string, dst *Tensor) error {
	h, rc, err := z.openData(ctx, name)
	if err != nil {
		return err
	}
	defer rc.Close()
	switch {
	case h.DType != dst.dtype || !h.Shape.Equal(dst.shape):
		return named(npyErr("the array is %v%v, not %v%v", h.DType, h.Shape, dst.dtype, dst.shape), name)
	case h.DType == String:
		return named(npyErr("strings can't be read into a tensor"), name)
	}
	if n, err := io.ReadFull(rc, dst.data); err != nil {
		return named(&NPYError{What: fmt.Sprintf("the file ends within the data: %d of %d bytes are there", n, h.Size), Err: noEOF(err)}, name)
	}
	copy(dst.data, h.toHost(dst.data))
	return named(atEnd(rc), name)
}

// atEnd makes sure that nothing follows an array; when the end is reached, the
// zip's checksum is compared.
func atEnd(r io.Reader) error {
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return npyErr("there are bytes after the array")
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

func (z *NPZ) open(name string) (*NPYHeader, io.ReadCloser, error) {
	f, ok := z.files[name]
	if !ok {
		return nil, nil, &NPYError{Name: name, What: "the file holds no such array"}
	}
	rc, err := f.Open()
	if err != nil {
		return nil, nil, &NPYError{Name: name, What: "can't be opened", Err: err}
	}
	h, err := ReadNPYHeader(rc)
	if err == nil {
		// The zip's directory may contain wrong sizes. DEFLATE makes at most 1032 bytes
		// of one, and no entry is longer than the file. An array that passes this check
		// may be allocated at once if it is stored uncompressed.
		const most = 1032
		switch {
		case f.CompressedSize64 > uint64(z.size):
			err = npyErr("the zip entry declares %d bytes in a file of %d", f.CompressedSize64, z.size)
		case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
			err = npyErr("the zip entry is stored as it is, but declares %d bytes to be %d", f.CompressedSize64, f.UncompressedSize64)
		case h.Size != int64(f.UncompressedSize64)-int64(h.length):
			err = npyErr("the array takes %d bytes, the zip entry holds %d", h.Size, int64(f.UncompressedSize64)-int64(h.length))
		case f.CompressedSize64 < math.MaxInt64/most && f.UncompressedSize64 > (f.CompressedSize64+1)*most:
			err = npyErr("%d compressed bytes can't hold the %d that are declared", f.CompressedSize64, f.UncompressedSize64)
		}
	}
	if err != nil {
		rc.Close()
		return nil, nil, named(err, name)
	}
	return h, rc, nil
}

// named puts the array's name into err, and makes a fault of the zip a typed
// error.
func named(err error, name string) error {
	if err == nil {
		return nil
	}
	var e *NPYError
	if errors.As(err, &e) && e.Name == "" {
		c := *e
		c.Name = name
		return &c
	}
	return &NPYError{Name: name, What: "the array's bytes", Err: err}
}

// NPZWriter writes a .npz file as numpy's savez does: arrays stored without
// compression. It streams, so arrays and files may be of any size (zip64).
type NPZWriter struct {
	zw   *zip.Writer
	opts *NPYOptions
	seen map[string]bool
}

// NewNPZWriter starts a file on w; nil options mean the defaults.
func NewNPZWriter(w io.Writer, opts *NPYOptions) *NPZWriter {
	return &NPZWriter{zw: zip.NewWriter(w), opts: opts, seen: make(map[string]bool)}
}

// Add writes one array. The name must be new to the file, which stores it with
// ".npy" added; numpy finds it under the name alone. Types that numpy lacks are
// widened, see [NPYType].
func (z *NPZWriter) Add(name string, t *Tensor) error {
	if z.seen[name] {
		return &NPYError{Name: name, What: "two arrays of this name"}
	}
	// A tensor that can't be written is refused before the entry is begun.
	if _, _, _, err := npyHeader(t, z.opts); err != nil {
		return named(err, name)
	}
	z.seen[name] = true
	h := &zip.FileHeader{Name: name + ".npy", Method: zip.Store}
	// 1980-01-01, as numpy's, so that the bytes depend on the arrays alone.
	//lint:ignore SA1019 Modified would add a field that numpy's files lack.
	h.ModifiedDate = 1<<5 | 1
	w, err := z.zw.CreateHeader(h)
	if err != nil {
		return &NPYError{Name: name, What: "can't be added", Err: err}
	}
	return named(WriteNPY(w, t, z.opts), name)
}

// Close writes the zip's directory. It doesn't close the underlying writer.
func (z *NPZWriter) Close() error { return z.zw.Close() }
