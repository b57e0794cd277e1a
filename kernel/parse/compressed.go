package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// decompressors open readers of compressed data, by the name of the method.
var decompressors = map[string]func(io.Reader) (io.ReadCloser, error){
	"ZLIB": zlib.NewReader,
	"GZIP": func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	"ZSTD": func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
}

// decodeCompressed decompresses strings. It is the kernel of DecodeCompressed.
func decodeCompressed(n *engine.Node) (func(*engine.Call) error, error) {
	kind := n.Attrs.String("compression_type", "")
	open := decompressors[kind]
	if open == nil && kind != "" {
		return nil, fmt.Errorf("the compression is %q, not ZLIB, GZIP, ZSTD or none", kind)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in := c.In(0)
		if in.DType() != tensor.String {
			return fmt.Errorf("takes strings, not %v", in.DType())
		}
		if open == nil {
			return c.Forward(0, 0, in.Shape())
		}
		out, err := c.Alloc(0, tensor.String, in.Shape())
		if err != nil {
			return err
		}
		room := &limited{c: c}
		for i, s := range in.Strings() {
			if s == "" {
				continue // an empty string stays empty, without a header
			}
			if out.Strings()[i], err = room.decompress(open, s); err != nil {
				return fmt.Errorf("string %d: %w", i, err)
			}
		}
		return nil
	}, nil
}

// limited counts the decompressed bytes, which may not exceed the call's
// budget.
type limited struct {
	c    *engine.Call
	used int64
}

func (l *limited) decompress(open func(io.Reader) (io.ReadCloser, error), s string) (string, error) {
	r, err := open(strings.NewReader(s))
	if err != nil {
		return "", err
	}
	defer r.Close()
	var all bytes.Buffer
	for {
		n, err := io.CopyN(&all, r, 64<<10)
		l.used += n
		if tooMuch := l.c.Afford(l.used); tooMuch != nil {
			return "", tooMuch
		}
		if errors.Is(err, io.EOF) {
			return all.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}
