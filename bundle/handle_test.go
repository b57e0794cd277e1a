package bundle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestFoundTensorsAreReadWithoutALookUp checks that a handle returns the same as
// the tensor's entry, and reads the tensor.
func TestFoundTensorsAreReadWithoutALookUp(t *testing.T) {
	dir := vfs.MemDir()
	const n = 300
	write(t, dir, "p", nil, func(w *Writer) {
		for i := range n {
			x := tensor.Must(tensor.Zeros([]tensor.DType{tensor.Float32, tensor.Int64, tensor.Int8}[i%3], make([]int, i%5)...))
			if i%5 == 4 {
				x = tensor.Vector(fmt.Sprint("text ", i))
			}
			if i%7 == 0 {
				x = tensor.Vector(int32(i), int32(-i))
			}
			w.Add(t.Context(), fmt.Sprint("v", i), x)
		}
	})
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	var reqs []ReadRequest
	for i := range n {
		name := fmt.Sprint("v", i)
		h, ok := r.Find(name)
		e, _ := r.Entry(name)
		if !ok || !h.Valid() {
			t.Fatalf("%s isn't found", name)
		}
		if got := r.EntryOf(h); fmt.Sprint(got) != fmt.Sprint(e) {
			t.Errorf("%s: entry %+v, want %+v", name, got, e)
		}
		if d, s := r.KindOf(h); d != e.DType || !s.Equal(e.Shape) {
			t.Errorf("%s: %v%v, want %v%v", name, d, s, e.DType, e.Shape)
		}
		reqs = append(reqs, r.Request(h))
	}
	if err := r.ReadAll(t.Context(), reqs, nil); err != nil {
		t.Fatal(err)
	}
	for _, req := range reqs {
		want, err := r.Read(t.Context(), req.Name)
		if err != nil || !want.Equal(req.Dst) {
			t.Errorf("%s: %v, want %v (%v)", req.Name, req.Dst, want, err)
		}
	}
	if h, ok := r.Find("none"); ok || h.Valid() {
		t.Error("a tensor is found that isn't there")
	}
	write(t, dir, "other", nil, func(w *Writer) { w.Add(t.Context(), "a", tensor.Vector(int32(1), 2)) })
	other, err := Open(t.Context(), dir, "other", nil)
	if err != nil {
		t.Fatal(err)
	}
	// Handles identify most Readers. If they don't, no entry outside the index is
	// accessed.
	alike := reqs[n-1]
	alike.Handle.of = other.number
	for _, req := range []ReadRequest{reqs[0], reqs[n-1], alike, {Name: "a", Handle: reqs[1].Handle}} {
		req.Dst = nil
		if err := other.ReadAll(t.Context(), []ReadRequest{req}, nil); err == nil {
			t.Errorf("%+v of another checkpoint was read", req)
		}
	}
}

// TestKindsDecodeWhatEntriesSay checks that decoding an entry by its kind
// returns the same as decoding all of it, and refuses the same entries.
func TestKindsDecodeWhatEntriesSay(t *testing.T) {
	const shards = 3
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 { return rng.Uint64() >> (rng.IntN(64)) }
	var known kinds
	fast, short := 0, 0
	for range 20_000 {
		shape := make(tensor.Shape, rng.IntN(3))
		elems := 1
		for i := range shape {
			shape[i] = rng.IntN(4)
			elems *= shape[i]
		}
		raw := appendKind(nil, []tensor.DType{tensor.Float32, tensor.Int64, tensor.String, tensor.Resource}[rng.IntN(4)], shape)
		for range rng.IntN(5) {
			switch f := protowire.Number(1 + rng.IntN(9)); {
			case f == 6:
				raw = protowire.AppendFixed32(protowire.AppendTag(raw, f, protowire.Fixed32Type), rng.Uint32())
			case f == 5 && rng.IntN(3) > 0:
				raw = appendNumber(raw, f, int64(elems*4))
			case f < 8:
				raw = protowire.AppendVarint(protowire.AppendTag(raw, f, protowire.VarintType), number()%(1+number()))
			default:
				raw = protowire.AppendBytes(protowire.AppendTag(raw, f, protowire.BytesType), []byte("x"))
			}
		}
		if rng.IntN(20) == 0 {
			raw = raw[:rng.IntN(len(raw))]
		}
		var rec record
		slices, err := rec.parse("k", raw, shards, nil)
		k := known.of(raw)
		var at place
		ok, plain := k.place(&at, raw, shards)
		var p piece
		if ok {
			p = at.piece(k)
		}
		switch {
		case ok && (err != nil || slices > 0 || rec.err != nil):
			t.Fatalf("%x is taken for %+v; it says %d slices, %v, %v", raw, p, slices, err, rec.err)
		case ok && p != rec.piece():
			t.Fatalf("%x is taken for %+v, it says %+v", raw, p, rec.piece())
		case ok:
			fast++
		}
		var prefix []byte
		if k != nil {
			prefix = []byte(k.prefix)
		}
		if again := at.location().append(prefix); ok && plain != bytes.Equal(again, raw) {
			t.Fatalf("%x is plain: %v; kind and place give %x", raw, plain, again)
		}
		if plain {
			short++
		}
		if err == nil {
			known.learn(raw)
		}
	}
	if fast < 1000 || short < 300 {
		t.Errorf("%d entries were decoded by their kinds, %d were plain", fast, short)
	}
}
