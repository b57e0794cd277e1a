package run_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// held counts the resources of the process that a load might leak.
type held struct {
	heap                             uint64
	goroutines, descriptors, mapping int
}

// holds returns the present counts. Descriptors and mappings are 0 on systems
// without /proc.
func holds() held {
	runtime.GC()
	runtime.GC() // the second collection frees the contents of pools and objects with finalizers
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	h := held{heap: s.HeapAlloc, goroutines: runtime.NumGoroutine()}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.descriptors = len(list)
	}
	if b, err := os.ReadFile("/proc/self/maps"); err == nil {
		h.mapping = strings.Count(string(b), "\n")
	}
	return h
}

// TestLoadsLeakNothing checks that loaded and called models leave no goroutines, descriptors and
// mappings. The models have weights, tables, assets, and the control flow and variables of
// TensorFlow 1.
func TestLoadsLeakNothing(t *testing.T) {
	kernels := kernel.All()
	for _, c := range []struct {
		name  string
		loads int
	}{{"tf1_sparse", 10_000}, {"table", 2000}, {"assets", 2000}, {"tf1_control", 1000}, {"tf1_init", 2000}, {"recurrent", 100}} {
		t.Run(c.name, func(t *testing.T) {
			n := c.loads
			if testing.Short() || detector.Racing {
				n /= 20
			}
			dir := os.DirFS("../testdata/models/" + c.name)
			answers := readAnswers(t, c.name)
			one := func() {
				m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernels})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range answers {
					if a.Signature == "" || a.Error != "" {
						continue
					}
					in := map[string]*tensor.Tensor{}
					for k, x := range a.In {
						in[k] = x.tensor(t)
					}
					if _, err := m.Call(ctx, a.Signature, in); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			for range 20 {
				one()
			}
			before := holds()
			for range n {
				one()
			}
			after := holds()
			if after.heap > before.heap+256<<10 {
				t.Errorf("%d loads left %d KiB", n, (after.heap-before.heap)>>10)
			}
			if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.mapping > before.mapping+50 {
				t.Errorf("%d loads left goroutines, descriptors or mappings: %+v before, %+v after", n, before, after)
			}
		})
	}
}

// TestLoadingTakesAFewTimesTheGraphsFile: besides the weights, of all that is allocated,
// whether it is given up before the end or not.
func TestLoadingTakesAFewTimesTheGraphsFile(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector allocates too")
	}
	kernels := kernel.All()
	for name, most := range map[string]float64{"lstm": 1.1, "finetune_lstm": 1.8} { // large graphs: a load takes half a megabyte by itself
		dir := files(t, name)
		load := func() *run.Model {
			m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernels, Tags: []string{"serve"}})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		var weights int64
		for _, v := range load().Variables() {
			weights += v.Load().NumBytes()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		load()
		runtime.ReadMemStats(&after)
		graph := float64(len(dir["saved_model.pb"].Data))
		took := float64(int64(after.TotalAlloc-before.TotalAlloc)-weights) / graph
		t.Logf("%s: %.1f times the %.0f kB of its graph", name, took, graph/1000)
		if took > most {
			t.Errorf("%s: loading allocates %.1f times the %.0f kB of its graph besides the weights, at most %.1f are allowed", name, took, graph/1000, most)
		}
	}
}

// TestLoadsOfOpenFilesLeakNothing: a large graph stays on the disk, in a file that
// is closed when its model is gone.
func TestLoadsOfOpenFilesLeakNothing(t *testing.T) {
	kernels := kernel.All()
	folder := t.TempDir()
	data := largeModel(t, 800)
	if len(data) <= 256<<10 {
		t.Fatalf("a file of %d bytes is read whole", len(data))
	}
	if err := os.WriteFile(filepath.Join(folder, "saved_model.pb"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	n := 2000
	if testing.Short() || detector.Racing {
		n /= 20
	}
	dir := os.DirFS(folder)
	most := 0
	loads := func(n int) {
		for i := range n {
			m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernels})
			if err == nil && i%10 == 0 {
				err = works(m, i%800)
			}
			if err != nil {
				t.Fatal(err)
			}
			if i%50 == 0 {
				list, _ := os.ReadDir("/proc/self/fd")
				most = max(most, len(list))
			}
		}
	}
	loads(20)
	before := holds()
	loads(n)
	after := holds()
	for range 100 { // the finalizers that close files run in a goroutine
		if after.descriptors <= before.descriptors {
			break
		}
		time.Sleep(10 * time.Millisecond)
		after = holds()
	}
	if after.heap > before.heap+256<<10 {
		t.Errorf("%d loads left %d KiB", n, (after.heap-before.heap)>>10)
	}
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.mapping > before.mapping+50 {
		t.Errorf("%d loads left goroutines, descriptors or mappings: %+v before, %+v after", n, before, after)
	}
	t.Logf("%d descriptors at most", most)
	if most > before.descriptors+200 {
		t.Errorf("%d descriptors were open at once: %d before", most, before.descriptors)
	}
}
