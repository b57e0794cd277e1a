package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Large tensors are compared in parallel: differences come in the order of the
// names, and the error is that of the first faulty tensor.
func TestLargeTensorsAreComparedInOrder(t *testing.T) {
	const n, elems = 9, 700_000 // 2.7 MiB each, several pieces
	tensors := func(change func(i int, v []float32)) map[string]*tensor.Tensor {
		all := map[string]*tensor.Tensor{"scalar": tensor.Scalar[float32](1)}
		for i := range n {
			x := tensor.Must(tensor.Zeros(tensor.Float32, elems))
			v := tensor.Values[float32](x)
			for k := range v {
				v[k] = float32(i + k)
			}
			if change != nil {
				change(i, v)
			}
			all[fmt.Sprintf("large%d", i)] = x
		}
		return all
	}
	a := write(t, tensors(nil))
	b := write(t, tensors(func(i int, v []float32) {
		if i%2 == 1 {
			v[elems-1-i]++
			v[elems-1]++
		}
	}))
	got, err := Diff(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range got {
		i := int(d.Name[len("large")] - '0')
		names = append(names, d.Name)
		if d.Differ != 2 || d.Count != elems || len(d.First) != 1 || d.First[0] != elems-1-i || *d.MaxAbs != 1 {
			t.Errorf("%+v, want two elements from %d on", d, elems-1-i)
		}
	}
	if s := strings.Join(names, " "); s != "large1 large3 large5 large7" {
		t.Errorf("differences of %s", s)
	}

	r := b.Bundle()
	f, err := os.OpenFile(b.Prefix+".data-00000-of-00001", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, i := range []int{2, 6, 7} {
		e, _ := r.Entry(fmt.Sprintf("large%d", i))
		if _, err := f.WriteAt([]byte{0xaa}, e.Offset+e.Size-1); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		var c *bundle.CorruptError
		if _, err := Diff(t.Context(), a, b, nil); !errors.As(err, &c) || c.Name != "large2" {
			t.Fatalf("error %v, want one about large2", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Diff(ended, a, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestWholeTensorsAreComparedOneByOne: strings come whole, and a small file may hold
// very many of them, so that more workers hold no more of them.
func TestWholeTensorsAreComparedOneByOne(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector takes memory of its own")
	}
	const n, each = 8, 1<<20 + 1
	all := map[string]*tensor.Tensor{}
	for i := range n {
		x, err := tensor.FromStrings(tensor.String, make([]string, each), each)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(i)] = x
	}
	a := write(t, all)
	all = nil
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	}()
	d, err := Diff(t.Context(), a, a, nil)
	close(stop)
	<-stopped
	if err != nil || len(d) > 0 {
		t.Fatalf("%v, %v", d, err)
	}
	one := uint64(each) * 16
	if took := max(peak, before) - before; took > 7*one {
		t.Errorf("the heap grows by %d MiB, one tensor of %d takes %d", took>>20, n, one>>20)
	} else {
		t.Logf("the heap grows by %d MiB, one tensor takes %d", took>>20, one>>20)
	}
}

// TestDiffOfAnyTwoKinds: whichever files hold the tensors, however large they are and
// however many, the same ones differ at the same elements.
func TestDiffOfAnyTwoKinds(t *testing.T) {
	const n, elems, words = maxPairs + 100, 700_000, 200_000
	tensors := func(changed bool) map[string]*tensor.Tensor {
		all := map[string]*tensor.Tensor{}
		x, w := make([]float32, elems), make([]string, words)
		for i := range x {
			x[i] = float32(i)
		}
		for i := range w {
			w[i] = fmt.Sprint("word", i)
		}
		v := make([]float32, n)
		if changed {
			x[5], x[elems-1], w[words-7], v[3], v[n-1] = -1, -1, "other", 1, 1
		}
		for i := range v {
			all[fmt.Sprintf("v%05d", i)] = tensor.Vector(v[i])
		}
		all["large"], all["words"] = tensor.Vector(x...), tensor.Vector(w...)
		return all
	}
	kinds := func(s *tensorfile.File) []*tensorfile.File {
		path := filepath.Join(t.TempDir(), "x.npz")
		if _, err := convert.Convert(t.Context(), s.Prefix, path, &convert.Options{}); err != nil {
			t.Fatal(err)
		}
		x, err := tensorfile.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return []*tensorfile.File{s, x}
	}
	as, bs := kinds(write(t, tensors(false))), kinds(write(t, tensors(true)))
	type found struct {
		Name          string
		Differ, Count int
		First         int
	}
	want := []found{{"large", 2, elems, 5}, {"v00003", 1, 1, 0}, {fmt.Sprintf("v%05d", n-1), 1, 1, 0}, {"words", 1, words, words - 7}}
	for _, a := range as {
		for _, b := range bs {
			d, err := Diff(t.Context(), a, b, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []found
			for _, d := range d {
				got = append(got, found{d.Name, d.Differ, d.Count, d.First[0]})
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%v and %v (-want +got):\n%s", a.Kind, b.Kind, d)
			}
		}
		if d, err := Diff(t.Context(), a, as[0], nil); err != nil || len(d) > 0 {
			t.Errorf("%v and its source: %v, %v", a.Kind, d, err)
		}
	}

	// One of the first tensors can't be read: that isn't lost among the others.
	e, _ := bs[0].Bundle().Entry("v00000")
	f, err := os.OpenFile(bs[0].Prefix+".data-00000-of-00001", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xaa}, e.Offset); err != nil {
		t.Fatal(err)
	}
	var c *bundle.CorruptError
	if _, err := Diff(t.Context(), as[0], bs[0], nil); !errors.As(err, &c) || c.Name != "v00000" {
		t.Errorf("error %v, want one about v00000", err)
	}
}
