package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestPlacesAreSortedAsBySorting checks that the algorithm for many places
// returns the same as a comparison sort, including empty pieces, several data
// files and large offsets.
func TestPlacesAreSortedAsBySorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		shards int32
		most   int64
		unit   int64
	}{{1, 1 << 12, 1}, {3, 1 << 40, 1}, {2000, 1 << 62, 1}, {1, 1, 1}, {1, 1 << 20, 1 << 10}, {5, 1 << 30, 4}} {
		for _, n := range []int{0, 1, 20, 5000, 9000} {
			var r Reader
			b := blockEntries{list: make([]indexEntry, n), memory: new([]indexEntry)}
			list := b.list
			var want []int32
			for i := range list {
				list[i].place = place{off: rng.Int64N(c.most) * c.unit, size: rng.Int64N(3), shard: rng.Int32N(c.shards)}
				if c.shards == 5 && i%7 == 3 {
					list[i].place = place{shard: noPlace}
				} else {
					want = append(want, int32(i))
				}
				b.bits.note(&list[i].place)
			}
			b.list = slices.Clone(list) // the input is overwritten
			if err := (&indexLoad{r: &r}).take(b); err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(want, func(a, b int32) int {
				p, q := list[a].place, list[b].place
				return cmp.Or(cmp.Compare(p.shard, q.shard), cmp.Compare(p.off, q.off), cmp.Compare(min(p.size, 1), min(q.size, 1)))
			})
			if got := r.index.byPlace(); !slices.Equal(got, want) {
				t.Errorf("%d places in %d data files, offsets below %d: another order", n, c.shards, c.most*c.unit)
			}
		}
	}
}

// TestKeysAreFoundInTheOrderOfTheirBytes checks that reading tensors in the
// order in which they were written needs no search.
func TestKeysAreFoundInTheOrderOfTheirBytes(t *testing.T) {
	dir := vfs.MemDir()
	w, err := NewWriter(dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 300
	for i := range n {
		if err := w.Add(t.Context(), fmt.Sprint("v", i), tensor.Must(tensor.Zeros(tensor.Int32, 1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e, ok := r.Entry(fmt.Sprint("v", i))
		if !ok || e.Offset != int64(4*i) {
			t.Fatalf("v%d: %v, %v", i, e, ok)
		}
	}
	if got := r.index.searches.Load(); got > 1 {
		t.Errorf("%d searches for %d keys", got, n)
	}
	if allocs := testing.AllocsPerRun(10, func() { r.Entry("v0"); r.Entry("v1") }); allocs > 0 {
		t.Errorf("%v allocations for entries of one shape", allocs)
	}
}

// TestBlocksAreDecodedInAnyOrder checks that an index of many blocks returns
// the entries in order, and the first of several faults.
func TestBlocksAreDecodedInAnyOrder(t *testing.T) {
	dir := vfs.MemDir()
	w, err := NewWriter(dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 30_000
	for i := range n {
		if err := w.Add(t.Context(), fmt.Sprintf("%06d/with/a/name/of/some/length", i), tensor.Scalar(int8(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	if names := r.Names(); len(names) != n || !slices.IsSorted(names) {
		t.Fatalf("%d names", len(names))
	}
	b, err := dir.ReadFile("p.index")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(b) / 4, len(b) / 2, len(b) * 3 / 4} {
		for k := at; k < len(b)-200_000; k += 300_000 { // a fault in each block from here on
			b[k] ^= 1
		}
		if err := dir.WriteFile("q.index", b); err != nil {
			t.Fatal(err)
		}
		var first string
		for range 10 {
			_, err := Open(t.Context(), dir, "q", nil)
			if err == nil {
				t.Fatal("opened")
			}
			if first == "" {
				first = err.Error()
			} else if err.Error() != first {
				t.Fatalf("%v, and another time %s", err, first)
			}
		}
		for k := at; k < len(b)-200_000; k += 300_000 {
			b[k] ^= 1
		}
	}
}

// TestEntriesOfNoBytesOverlapNothing checks that empty entries overlap nothing
// at any offset, and hide no overlap.
func TestEntriesOfNoBytesOverlapNothing(t *testing.T) {
	entry := func(off int64, n int64) []byte {
		return (&pb.BundleEntryProto{Dtype: 4, Shape: dims(n), Offset: off, Size: n}).Marshal()
	}
	for _, c := range []struct {
		rows  []row
		sound bool
	}{
		{[]row{{"a", entry(0, 8)}, {"b", entry(4, 0)}, {"c", entry(8, 4)}}, true},
		{[]row{{"a", entry(0, 8)}, {"b", entry(4, 0)}, {"c", entry(4, 4)}}, false},
		{[]row{{"a", entry(0, 8)}, {"b", entry(0, 0)}, {"c", entry(8, 0)}}, true},
		{[]row{{"a", entry(0, 8)}, {"b", entry(7, 1)}}, false},
	} {
		dir := vfs.MemDir()
		if err := errors.Join(dir.WriteFile("c.index", tableOf(t, append([]row{{"", goodHeader.Marshal()}}, c.rows...)...)), dir.WriteFile("c.data-00000-of-00001", make([]byte, 12))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dir, "c", nil); (err == nil) != c.sound {
			t.Errorf("%x: %v", c.rows, err)
		}
	}
}
