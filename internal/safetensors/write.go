package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/cairnml/cairn/tensor"
)

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// toHost swaps words of little-endian data where the machine has the other
// order.
func toHost(b []byte, width int) {
	if !bigEndianHost || width < 2 {
		return
	}
	for ; len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}

// Write writes a file that holds the tensors that infos names (their order and
// offsets don't matter), asking read for each when its turn comes. What read
// returns must have the announced type and shape.
func Write(ctx context.Context, w io.Writer, infos []Info, metadata map[string]string, read func(ctx context.Context, name string) (*tensor.Tensor, error)) error {
	infos = slices.Clone(infos)
	header, err := layOut(infos, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, i := range infos {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := read(ctx, i.Name)
		if err != nil {
			return err
		}
		if t.DType() != i.DType || !t.Shape().Equal(i.Shape) {
			return fmt.Errorf("safetensors: tensor %q is %v%v; %v%v was announced", i.Name, t.DType(), t.Shape(), i.DType, i.Shape)
		}
		data := t.Bytes()
		if bigEndianHost {
			data = bytes.Clone(data)
			toHost(data, i.DType.Swap())
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// Sorted yields infos in the order in which [Write] writes them.
func Sorted(infos []Info) iter.Seq[Info] {
	return slices.Values(slices.SortedFunc(slices.Values(infos), order))
}

func order(a, b Info) int {
	if ra, rb := rank(a.DType), rank(b.DType); ra != rb {
		return ra - rb
	}
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}

// layOut sorts infos, gives each its place and makes everything before the
// data.
func layOut(infos []Info, metadata map[string]string) ([]byte, error) {
	slices.SortFunc(infos, order)
	h := append(make([]byte, 8), '{')
	if metadata != nil {
		h = append(h, `"__metadata__":{`...)
		for n, k := range slices.Sorted(maps.Keys(metadata)) {
			if n > 0 {
				h = append(h, ',')
			}
			if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
				return nil, fmt.Errorf("safetensors: metadata %q is no UTF-8", k)
			}
			h = appendString(h, k)
			h = append(h, ':')
			h = appendString(h, metadata[k])
		}
		h = append(h, '}')
	}
	var at int64
	seen := make(map[string]bool, len(infos))
	for n := range infos {
		i := &infos[n]
		switch {
		case !Holds(i.DType):
			return nil, fmt.Errorf("safetensors: the format has no elements of %v, which %q has", i.DType, i.Name)
		case !utf8.ValidString(i.Name):
			return nil, fmt.Errorf("safetensors: the name %q is no UTF-8, which the format asks for", i.Name)
		case i.Name == "__metadata__":
			return nil, fmt.Errorf("safetensors: no tensor can be called %q", i.Name)
		case seen[i.Name]: // of another type it is no neighbour
			return nil, fmt.Errorf("safetensors: two tensors are called %q", i.Name)
		}
		seen[i.Name] = true
		count, err := i.Shape.NumElements()
		if err != nil {
			return nil, err
		}
		i.Offset, i.Size = at, int64(count)*int64(i.DType.Size())
		at += i.Size
		if n > 0 || metadata != nil {
			h = append(h, ',')
		}
		h = appendString(h, i.Name)
		h = append(h, `:{"dtype":"`...)
		h = append(h, kinds[rank(i.DType)].name...)
		h = append(h, `","shape":[`...)
		for d, size := range i.Shape {
			if d > 0 {
				h = append(h, ',')
			}
			h = fmt.Append(h, size)
		}
		h = fmt.Appendf(h, `],"data_offsets":[%d,%d]}`, i.Offset, at)
		if len(h) > MaxHeader {
			break
		}
	}
	h = append(h, '}')
	for len(h)%8 != 0 {
		h = append(h, ' ')
	}
	if len(h)-8 > MaxHeader {
		return nil, fmt.Errorf("safetensors: names and metadata take more than the format's %d bytes of header", MaxHeader)
	}
	binary.LittleEndian.PutUint64(h, uint64(len(h)-8))
	return h, nil
}

// appendString appends s as JSON the way serde_json writes it, which escapes
// less than encoding/json.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}
