package pb

import (
	"bytes"
	"io"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// counting counts the bytes that are read.
type counting struct {
	r    io.ReaderAt
	read int64
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(b, off)
	c.read += int64(n)
	return n, err
}

// TestFixedFieldsAndGroupsAreReadOnce steps through 20,000 fields of each kind that is
// passed over. What is read is in proportion to the message. It was read to its end for
// each such field.
func TestFixedFieldsAndGroupsAreReadOnce(t *testing.T) {
	group := func(inner []byte) []byte {
		return protowire.AppendTag(append(protowire.AppendTag(nil, 7, protowire.StartGroupType), inner...), 7, protowire.EndGroupType)
	}
	text := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "text")
	number := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1<<40)
	fixed := protowire.AppendFixed32(protowire.AppendTag(nil, 5, protowire.Fixed32Type), 1)
	double := protowire.AppendFixed64(protowire.AppendTag(nil, 6, protowire.Fixed64Type), 1)
	deep := []byte(nil)
	for range maxGroups {
		deep = append(deep, group(nil)[:1]...)
	}
	for range maxGroups {
		deep = append(deep, group(nil)[1:]...)
	}
	deeper := append(group(nil)[:1:1], append(deep, group(nil)[1:]...)...)
	const times = 20_000
	for _, c := range []struct {
		name  string
		field []byte
		times int
		ok    bool
	}{
		{"numbers of four bytes", fixed, times, true},
		{"numbers of eight bytes", double, times, true},
		{"empty groups", group(nil), times, true},
		{"groups of all kinds", group(bytes.Join([][]byte{text, number, fixed, double, group(text)}, nil)), times, true},
		{"deep groups", deep, 3, true},
		{"groups that are too deep", deeper, 1, false},
		{"a number that is cut off", fixed[:3], 1, false},
		{"a group without an end", group(text)[:7], 1, false},
		{"a group's end alone", group(nil)[1:], 1, false},
		{"a group that ends as another", append(group(nil)[:1:1], protowire.AppendTag(nil, 8, protowire.EndGroupType)...), 1, false},
		{"a text in a group that is cut off", group(text)[:5], 1, false},
	} {
		message := append(append(bytes.Clone(text), bytes.Repeat(c.field, c.times)...), text...)
		if !c.ok {
			message = append(bytes.Clone(text), c.field...)
		}
		for _, source := range []Source{InMemory(message), {}} {
			file := &counting{r: bytes.NewReader(message)}
			if source.Len() == 0 {
				source = InFile(file, int64(len(message)))
			}
			p, found := source.Parts(), 0
			for p.Next() {
				if !p.Whole || p.Number != 2 {
					t.Errorf("%s: there is a field %d", c.name, p.Number)
				}
				if b, err := p.Bytes(); err != nil || string(b) != "text" {
					t.Errorf("%s: %q, %v", c.name, b, err)
				}
				found++
			}
			want := 2
			if !c.ok {
				want = 1
			}
			if found != want || (p.Err == nil) != c.ok {
				t.Errorf("%s: %d fields, want %d: %v", c.name, found, want, p.Err)
			}
			if most := int64(len(message)) + 2*windowSize + int64(len(message))/100; file.read > most {
				t.Errorf("%s: %d bytes of %d were read", c.name, file.read, len(message))
			}
		}
	}
}
