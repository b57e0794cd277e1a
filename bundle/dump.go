package bundle

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/binfmt"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
)

// Dump prints each byte of a bundle's index with its meaning, or the table of a version 1 checkpoint. Two dumps
// can be compared as text. The text is for people: it may change, together with the example and the tests that
// print it. Only these call Dump in this module.
func Dump(ctx context.Context, w io.Writer, fsys fs.FS, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, value := IndexName(prefix), describeEntry
	src, err := openSource(fsys, name)
	if err != nil {
		files := findV1(fsys, prefix)
		if len(files) == 0 {
			return describe(fsys, prefix, prefix, err)
		}
		for _, f := range files {
			if err := dumpV1(w, fsys, f); err != nil {
				return err
			}
		}
		return nil
	}
	defer src.close()
	if !src.parallel {
		if err := src.spool(defaultMaxIndex); err != nil {
			return err
		}
	}
	return fault(name, table.Describe(w, src, src.size, limit.Memory(src.stored), value))
}

// dumpV1 prints a table of version 1. It decodes the slices in keys, and no values.
func dumpV1(w io.Writer, fsys fs.FS, name string) error {
	src, err := openSource(fsys, name)
	if err != nil {
		return err
	}
	defer src.close()
	if !src.parallel {
		if err := src.spool(defaultMaxIndex); err != nil {
			return err
		}
	}
	return fault(name, table.Describe(w, src, src.size, limit.Memory(src.stored), func(p *binfmt.Printer, key []byte) {
		if n, s, err := parseSliceKey(string(key)); err == nil {
			p.Line("slice %s of %.100q", s, n)
		}
	}))
}

// describeEntry prints the fields of a header or an entry.
func describeEntry(p *binfmt.Printer, key []byte) {
	if name, s, err := parseSliceKey(string(key)); err == nil {
		p.Line("slice %s of %.100q", s, name)
	}
	words := entryField
	if len(key) == 0 {
		words = headerField
	}
	for len(p.Rest()) > 0 {
		num, typ, n := protowire.ConsumeTag(p.Rest())
		if n < 0 {
			return
		}
		k := protowire.ConsumeFieldValue(num, typ, p.Rest()[n:])
		if k < 0 {
			return
		}
		p.Field(n+k, "%s", words(num, typ, p.Rest()[n:n+k]))
	}
}

// headerField describes a field of a header. b is its value as it is encoded.
func headerField(num protowire.Number, typ protowire.Type, b []byte) string {
	v, _ := protowire.ConsumeVarint(b)
	switch {
	case num == 1 && typ == protowire.VarintType:
		return fmt.Sprintf("num_shards %d", v)
	case num == 2 && typ == protowire.VarintType:
		return fmt.Sprintf("endianness %d", v)
	case num == 3 && typ == protowire.BytesType:
		body, _ := protowire.ConsumeBytes(b)
		var m pb.VersionDef
		if m.Unmarshal(body) == nil {
			return fmt.Sprintf("version: producer %d, min_consumer %d, bad_consumers %v", m.Producer, m.MinConsumer, m.BadConsumers)
		}
	}
	return fmt.Sprintf("field %d", num)
}

// entryField works like headerField, for a field of an entry.
func entryField(num protowire.Number, typ protowire.Type, b []byte) string {
	v, _ := protowire.ConsumeVarint(b)
	body, _ := protowire.ConsumeBytes(b)
	switch {
	case num == 1 && typ == protowire.VarintType:
		return fmt.Sprintf("dtype %v", tensor.DType(int32(v)))
	case num == 2 && typ == protowire.BytesType:
		var m pb.TensorShapeProto
		if m.Unmarshal(body) == nil {
			dims := make([]int64, len(m.Dim))
			for i, d := range m.Dim {
				dims[i] = d.Size
			}
			return fmt.Sprintf("shape %v", dims)
		}
	case num == 3 && typ == protowire.VarintType:
		return fmt.Sprintf("shard_id %d", v)
	case num == 4 && typ == protowire.VarintType:
		return fmt.Sprintf("offset %d", v)
	case num == 5 && typ == protowire.VarintType:
		return fmt.Sprintf("size %d", v)
	case num == 6 && typ == protowire.Fixed32Type:
		c, _ := protowire.ConsumeFixed32(b)
		return fmt.Sprintf("masked checksum, of which crc32c is %08x", crc32c.Unmask(c))
	case num == 7 && typ == protowire.BytesType:
		var m pb.TensorSliceProto
		if m.Unmarshal(body) == nil {
			var s Slice
			for _, e := range m.Extent {
				s.Extents = append(s.Extents, Extent{e.Start, e.Length, !e.HasLength})
			}
			return fmt.Sprintf("slice %s", s)
		}
	}
	return fmt.Sprintf("field %d", num)
}
