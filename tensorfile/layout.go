package tensorfile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// LayoutKey is the name of the metadata that holds a [Layout].
const LayoutKey = "cairn.checkpoint"

// MaxAlignment is the largest alignment in bytes of a checkpoint's tensors that
// a [Layout] should record. Each tensor is followed by up to so much padding, which has
// no bytes in the safetensors file, so a hostile file could ask for very much. Real
// checkpoints have 1, or a page or less. The number is ours and may change.
const MaxAlignment = 64 << 10

// Layout is the description, in a safetensors file's metadata, of the
// checkpoint it was made of. With it the conversion back produces the same
// bytes. The names of its fields in JSON must stay, since files have them; a
// field is added with omitempty, or with a new Version that parseLayout knows.
type Layout struct {
	Version int `json:"version"` // 1

	// Strings holds the tensors that are no numbers; values are base64 in JSON.
	Strings map[string]StringTensor `json:"strings,omitempty"`
	// Types holds the element types that the format lacks; those tensors are
	// stored widened (see [Carrier]).
	Types map[string]string `json:"types,omitempty"`
	// Shards lists, for each data file, its tensors in order.
	Shards [][]Piece `json:"shards,omitempty"`
	// Alignment and BigEndian are the checkpoint's.
	Alignment int  `json:"alignment,omitempty"`
	BigEndian bool `json:"big_endian,omitempty"`
	// Index is the SHA-256 of the checkpoint's index file, in hexadecimal. The
	// index holds every place and checksum, so equal indexes mean equal files.
	Index string `json:"index_sha256,omitempty"`
}

// Text returns l as JSON. It writes the list of pieces, one for each tensor, without
// encoding/json, because that would take several times the memory of the text.
func (l *Layout) Text() (string, error) {
	head := Layout{Version: l.Version, Strings: l.Strings, Types: l.Types}
	first, err := json.Marshal(head)
	if err != nil {
		return "", err
	}
	rest, err := json.Marshal(struct { // the fields after Shards
		Alignment int    `json:"alignment,omitempty"`
		BigEndian bool   `json:"big_endian,omitempty"`
		Index     string `json:"index_sha256,omitempty"`
	}{l.Alignment, l.BigEndian, l.Index})
	if err != nil {
		return "", err
	}
	size := len(first) + len(rest) + 20
	for _, pieces := range l.Shards {
		size += 5
		for _, p := range pieces {
			size += len(p.Name) + 3
		}
	}
	var b strings.Builder
	b.Grow(size)
	b.Write(first[:len(first)-1])
	if len(l.Shards) > 0 {
		b.WriteString(`,"shards":[`)
		for i, pieces := range l.Shards {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writePieces(&b, pieces); err != nil {
				return "", err
			}
		}
		b.WriteByte(']')
	}
	if len(rest) > len("{}") {
		b.WriteByte(',')
	}
	b.Write(rest[1:])
	return b.String(), nil
}

// writePieces writes the pieces of a data file.
func writePieces(b *strings.Builder, pieces []Piece) error {
	if pieces == nil {
		b.WriteString("null")
		return nil
	}
	b.WriteByte('[')
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		if p.Slice == "" && isPlain(p.Name) {
			b.WriteByte('"')
			b.WriteString(p.Name)
			b.WriteByte('"')
			continue
		}
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	b.WriteByte(']')
	return nil
}

// isPlain reports whether s needs no escapes in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`"\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

// StringTensor is a string, variant or resource tensor.
type StringTensor struct {
	DType  string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	Values [][]byte `json:"values"`
}

// Piece is a tensor, or a slice of one, in a data file.
type Piece struct {
	Name  string
	Slice string // TensorFlow's words for the slice; "" means the whole tensor
}

// MarshalJSON writes a whole tensor as its name, a slice as a pair.
func (p Piece) MarshalJSON() ([]byte, error) {
	if p.Slice == "" {
		return json.Marshal(p.Name)
	}
	return json.Marshal([2]string{p.Name, p.Slice})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (p *Piece) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		p.Slice = ""
		return json.Unmarshal(b, &p.Name)
	}
	var pair [2]string
	err := json.Unmarshal(b, &pair)
	p.Name, p.Slice = pair[0], pair[1]
	return err
}

// Carrier returns the type in which a safetensors file stores elements of type
// d: the type itself if the format has it; narrow integers and quantized
// types as integers; float4 and float8_e4m3b11fnuz as float32; complex128 as
// pairs of float64. The conversion back is exact for all of these. Strings,
// variants and resources have none (ok is false): they are stored in the
// metadata.
func Carrier(d tensor.DType) (as tensor.DType, ok bool) {
	switch d {
	case tensor.Float8E4M3B11FNUZ, tensor.Float4E2M1FN:
		return tensor.Float32, true
	case tensor.Complex128:
		return tensor.Float64, true
	}
	if !d.Fixed() {
		return tensor.Invalid, false
	}
	as, err := tensor.NPYType(d)
	switch d {
	case tensor.BFloat16, tensor.Float8E5M2, tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E5M2FNUZ:
		as = d
	}
	return as, err == nil
}

// Carry converts t to the tensor that represents it in a safetensors file.
func Carry(t *tensor.Tensor) (*tensor.Tensor, error) {
	as, ok := Carrier(t.DType())
	switch {
	case !ok:
		return nil, fmt.Errorf("%v has no place among a safetensors file's tensors", t.DType())
	case t.DType() == tensor.Complex128:
		return tensor.FromBytes(tensor.Float64, t.Bytes(), append(t.Shape().Clone(), 2)...)
	}
	return tensor.Cast(t, as)
}

// uncarry undoes [Carry].
func uncarry(t *tensor.Tensor, d tensor.DType) (*tensor.Tensor, error) {
	if as, ok := Carrier(d); !ok || as != t.DType() {
		return nil, fmt.Errorf("the metadata says %v of a tensor of %v", d, t.DType())
	}
	if d == tensor.Complex128 {
		n := t.Rank() - 1
		if n < 0 || t.Shape()[n] != 2 {
			return nil, fmt.Errorf("the metadata says complex128 of a tensor of shape %v", t.Shape())
		}
		return tensor.FromBytes(d, t.Bytes(), t.Shape()[:n]...)
	}
	return tensor.Cast(t, d)
}

// parseLayout reads the layout in a file's metadata. It is nil if there is none.
func parseLayout(metadata map[string]string) (*Layout, error) {
	text, ok := metadata[LayoutKey]
	if !ok {
		return nil, nil
	}
	l := new(Layout)
	if err := json.Unmarshal([]byte(text), l); err != nil {
		return nil, fmt.Errorf("the metadata %s: %w", LayoutKey, err)
	}
	if l.Alignment < 0 {
		return nil, fmt.Errorf("the metadata %s asks for an alignment of %d bytes", LayoutKey, l.Alignment)
	}
	if l.Version != 1 {
		return nil, fmt.Errorf("the metadata %s has version %d; this program knows 1", LayoutKey, l.Version)
	}
	return l, nil
}

func (s StringTensor) tensor() (*tensor.Tensor, error) {
	d, err := tensor.ParseDType(s.DType)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(s.Values))
	for i, v := range s.Values {
		values[i] = string(v)
	}
	return tensor.FromStrings(d, values, s.Shape...)
}

// NewStringTensor returns t, a tensor of strings, for the metadata.
func NewStringTensor(t *tensor.Tensor) StringTensor {
	s := StringTensor{DType: t.DType().String(), Shape: append([]int{}, t.Shape()...), Values: [][]byte{}}
	for _, v := range t.Strings() {
		s.Values = append(s.Values, []byte(v))
	}
	return s
}
