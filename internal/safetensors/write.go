package safetensors

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairnml/cairn/tensor"
)

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// toHost swaps words of width bytes of little-endian data if the machine has the other order. It also
// converts the other way.
func toHost(b []byte, width int) {
	if !bigEndianHost || width < 2 {
		return
	}
	for ; len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}

// Write writes a file with the tensors that infos names. It sorts infos in place, in the order of
// [Sorted], and sets Offset and Size of each. It calls read for each, in that order, when it is next.
// The result of read must have the announced type and shape. The header is written
// incrementally, because the format allows [MaxHeader] bytes for it.
//
// The bytes must stay those of the reference implementation: order, escapes, and blanks up to a
// multiple of 8 bytes (TestReferenceFilesAreReadAndRewrittenByteForByte).
func Write(ctx context.Context, w io.Writer, infos []Info, metadata map[string]string, read func(ctx context.Context, name string) (*tensor.Tensor, error)) error {
	size, err := layOut(infos, metadata)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(w, 1<<16)
	if err := writeHeader(buf, size, infos, metadata); err != nil {
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
		if _, err := buf.Write(data); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// Sorted yields infos in the order in which [Write] writes them.
func Sorted(infos []Info) iter.Seq[Info] {
	return slices.Values(slices.SortedFunc(slices.Values(infos), order))
}

// order compares infos by the order of the reference implementation: the place of the element type in
// kinds, then name.
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

// layOut sorts infos, sets the offset of each and returns the size of the
// header's text, without the blanks at its end.
func layOut(infos []Info, metadata map[string]string) (int, error) {
	slices.SortFunc(infos, order)
	for k, v := range metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return 0, fmt.Errorf("safetensors: metadata %q is no UTF-8", k)
		}
	}
	var at int64
	for n := range infos {
		i := &infos[n]
		switch {
		case !Holds(i.DType):
			return 0, fmt.Errorf("safetensors: the format has no elements of %v, which %q has", i.DType, i.Name)
		case !utf8.ValidString(i.Name):
			return 0, fmt.Errorf("safetensors: the name %q is no UTF-8, which the format asks for", i.Name)
		case i.Name == metadataKey:
			return 0, fmt.Errorf("safetensors: no tensor can be called %q", i.Name)
		}
		count, err := i.Shape.NumElements()
		if err != nil {
			return 0, err
		}
		i.Offset, i.Size = at, int64(count)*int64(i.DType.Size())
		at += i.Size
	}
	if name, twice := repeated(infos); twice {
		return 0, fmt.Errorf("safetensors: two tensors are called %q", name)
	}
	size := 0
	for part := range headerParts(infos, metadata) {
		if size += len(part); size > MaxHeader {
			return 0, fmt.Errorf("safetensors: names and metadata take more than the format's %d bytes of header", MaxHeader)
		}
	}
	return size, nil
}

// repeated returns a name that two infos have. They are sorted by type first, so
// that those of one name needn't be neighbours.
func repeated(infos []Info) (string, bool) {
	byName := make([]uint32, len(infos))
	for i := range byName {
		byName[i] = uint32(i)
	}
	slices.SortFunc(byName, func(a, b uint32) int { return strings.Compare(infos[a].Name, infos[b].Name) })
	for n := 1; n < len(byName); n++ {
		if name := infos[byName[n]].Name; name == infos[byName[n-1]].Name {
			return name, true
		}
	}
	return "", false
}

const metadataKey = "__metadata__"

// writeHeader writes everything before the data.
func writeHeader(w io.Writer, size int, infos []Info, metadata map[string]string) error {
	padded := (size + 7) &^ 7
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(padded))); err != nil {
		return err
	}
	for part := range headerParts(infos, metadata) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "       "[:padded-size])
	return err
}

// headerParts yields the header's text, piece by piece. A piece is valid until
// the next one: they share memory.
func headerParts(infos []Info, metadata map[string]string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		h := []byte{'{'}
		if metadata != nil {
			h = append(h, `"`+metadataKey+`":{`...)
			for n, k := range slices.Sorted(maps.Keys(metadata)) {
				if n > 0 {
					h = append(h, ',')
				}
				h = append(appendString(h, k), `:"`...)
				for v := metadata[k]; len(v) > 0; {
					n := min(len(v), 1<<14)
					if !yield(appendEscaped(h, v[:n])) {
						return
					}
					h, v = h[:0], v[n:]
				}
				h = append(h, '"')
			}
			h = append(h, '}')
		}
		for n := range infos {
			i := &infos[n]
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
				h = strconv.AppendInt(h, int64(size), 10)
			}
			h = append(h, `],"data_offsets":[`...)
			h = append(strconv.AppendInt(h, i.Offset, 10), ',')
			h = append(strconv.AppendInt(h, i.Offset+i.Size, 10), "]}"...)
			if !yield(h) {
				return
			}
			h = h[:0]
		}
		yield(append(h, '}'))
	}
}

// appendString appends s as JSON the way serde_json writes it, which escapes
// less than encoding/json.
func appendString(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendEscaped appends s escaped, without quotes.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
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
	return b
}
