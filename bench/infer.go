package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cairnml/cairn/kernel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// app is a model that interop/peer/apps.py writes under that name. words is its name in rows.
type app struct {
	name, words string
	calls       [2]int  // the calls of a request at batches of 1 and of 8; 0: only the memory for loading it is measured
	twoCallers  bool    // is also called by two at once
	products    float64 // multiply-adds of an example's products of matrices; 0: not known
}

// transformerProducts are those of 128 tokens in 4 blocks: of queries, keys, values and the
// output projection, of the feed-forward network, and of scores and the values that they
// weigh.
const transformerProducts = 128 * 4 * (4*256*256 + 2*256*1024 + 2*128*256)

var apps = []app{
	{name: "resnet50", words: "ResNet50", calls: [2]int{10, 2}},
	{name: "mobilenet_v2", words: "MobileNetV2", calls: [2]int{20, 4}, twoCallers: true},
	{name: "efficientnet_b0", words: "EfficientNetB0", calls: [2]int{10, 2}},
	{name: "transformer", words: "transformer of 4 layers, 128 tokens", calls: [2]int{20, 4}, products: transformerProducts},
	{name: "recurrent", words: "BiLSTM and GRU, 100 tokens", calls: [2]int{20, 10}},
	{name: "densenet121", words: "DenseNet121", calls: [2]int{10, 2}},
	{name: "nasnet_mobile", words: "NASNetMobile"},
}

// infer measures loading and running models, against TensorFlow and onnxruntime.
func (b *bench) infer(ctx context.Context) error {
	for _, a := range apps {
		works := []step{{words: "load " + a.words, verb: "load", count: 1}}
		if a.calls[0] > 0 {
			works = append(works,
				step{words: a.words + ", batch 1", verb: "1", count: float64(a.calls[0]), products: a.products},
				step{words: a.words + ", batch 8", verb: "8", count: float64(a.calls[1]), products: 8 * a.products})
		}
		if a.twoCallers {
			works = slices.Insert(works, 2, step{words: a.words + ", batch 1, a call of two callers at once", verb: "two", count: 2 * float64(a.calls[0]), withBefore: true})
		}
		if !slices.ContainsFunc(works, b.wanted) {
			continue
		}
		dir, err := b.write(ctx, a)
		if err != nil {
			return err
		}
		args := []string{dir, fmt.Sprint(a.calls[0]), fmt.Sprint(a.calls[1])}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		peers := map[string]*process{}
		if peers[cairn], err = b.startPeer(ctx, append([]string{self, "-peer", "infer"}, args...)...); err != nil {
			return err
		}
		if a.calls[0] == 0 {
			b.loads(peers[cairn], a)
			b.close()
			continue
		}
		if peers[tensorflow], err = b.startPeer(ctx, append([]string{b.python, filepath.Join("bench", "peer", "tf_infer.py")}, args...)...); err != nil {
			return err
		}
		// Converters don't take every model.
		if peers[onnxruntime], err = b.startPeer(ctx, append([]string{b.python, filepath.Join("bench", "peer", "ort_infer.py")}, args...)...); err != nil {
			fmt.Fprintf(os.Stderr, "%s without onnxruntime: %v\n", a.name, err)
			delete(peers, onnxruntime)
		}
		if a.products > 0 {
			if err := b.startPeak(ctx, peers); err != nil {
				return err
			}
		}
		for group := range groups(works) {
			if err := b.together(group, peers); err != nil {
				return err
			}
		}
		taken, err := peers[cairn].ask("memory")
		if err != nil {
			return err
		}
		b.taken = append(b.taken, fmt.Sprintf("%.1f KiB of %s", taken, a.words))
		b.loads(peers[cairn], a)
		b.close()
	}
	return nil
}

// loads measures the memory for loading the model. It adds nothing unless the system is Linux,
// which alone reports it.
func (b *bench) loads(p *process, a app) {
	if times, err := p.ask("loading"); err == nil {
		b.loading = append(b.loading, fmt.Sprintf("%.2f of %s", times, a.words))
	}
}

// write has the model written, unless the directory of an earlier run has it, and
// returns its directory.
func (b *bench) write(ctx context.Context, a app) (dir string, err error) {
	dir = filepath.Join(b.dir, "apps", a.name)
	if _, err := os.Stat(filepath.Join(dir, "case.npz")); err == nil {
		return dir, nil
	}
	cmd := exec.CommandContext(ctx, b.python, filepath.Join("interop", "peer", "apps.py"), b.dir, a.name)
	cmd.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=3", "CUDA_VISIBLE_DEVICES=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("writing %s: %w\n%s", a.name, err, out)
	}
	return dir, nil
}

// load makes the model in a directory ready to run.
func load(ctx context.Context, dir string) (*modelrun.Model, error) {
	return modelrun.Load(ctx, os.DirFS(dir), &modelrun.LoadOptions{Kernels: kernel.All()})
}

// loadingPeak returns the greatest memory that loading the model takes, as a multiple of its
// weights' bytes. The process has loaded and called models before, as a server has. The
// result is the median of five loads.
func loadingPeak(ctx context.Context, dir string) (float64, error) {
	shards, err := filepath.Glob(filepath.Join(dir, "variables", "variables.data-*"))
	if err != nil {
		return 0, err
	}
	var weights int64
	for _, name := range shards {
		file, err := os.Stat(name)
		if err != nil {
			return 0, err
		}
		weights += file.Size()
	}
	var times []float64
	for range 5 {
		now, err := residentNow()
		if err != nil {
			return 0, err
		}
		if err := forgetPeak(); err != nil {
			return 0, err
		}
		m, err := load(ctx, dir)
		if err != nil {
			return 0, err
		}
		peak, err := residentPeak()
		if err != nil {
			return 0, err
		}
		runtime.KeepAlive(m)
		times = append(times, float64(peak-now)/float64(weights))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// inferVerbs returns the verbs of a peer that runs the model in a directory. They load it, and
// make calls[0] calls of its signature with a batch of 1, and calls[1] with a batch of 8. The
// other function returns the KiB that a call allocates besides its outputs.
func inferVerbs(ctx context.Context, dir string, calls [2]int) (map[string]verb, func() (float64, error), error) {
	m, err := load(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	sig, err := m.Signature("serving_default")
	if err != nil {
		return nil, nil, err
	}
	name, x, err := caseInput(ctx, filepath.Join(dir, "case.npz"))
	if err != nil {
		return nil, nil, err
	}
	verbs := map[string]verb{"load": func(ctx context.Context) error {
		_, err := load(ctx, dir)
		return err
	}}
	var taken []func() (float64, error)
	for i, size := range []int{1, 8} {
		in, err := batched(x, size)
		if err != nil {
			return nil, nil, err
		}
		feeds := map[string]*tensor.Tensor{name: in}
		taken = append(taken, func() (float64, error) { return takenBy(ctx, sig, feeds) })
		verbs[fmt.Sprint(size)] = func(ctx context.Context) error {
			for range calls[i] {
				if _, err := sig.Call(ctx, feeds); err != nil {
					return err
				}
			}
			return nil
		}
	}
	one := verbs["1"]
	verbs["two"] = func(ctx context.Context) error {
		other := make(chan error, 1)
		go func() { other <- one(ctx) }()
		return errors.Join(one(ctx), <-other)
	}
	return verbs, func() (most float64, err error) {
		for _, f := range taken {
			n, err := f()
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
		return most, nil
	}, nil
}

// takenBy returns the KiB of memory that a call takes from the garbage collector besides its
// outputs, once the shapes are known.
func takenBy(ctx context.Context, sig *modelrun.Signature, feeds map[string]*tensor.Tensor) (float64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which empties pools
	const calls = 10
	least := math.Inf(1) // of several times: a goroutine that changes its processor finds other pools
	for range 5 {
		var before, after runtime.MemStats
		var outputs int64
		runtime.ReadMemStats(&before)
		for range calls {
			out, err := sig.Call(ctx, feeds)
			if err != nil {
				return 0, err
			}
			for _, y := range out {
				outputs += y.NumBytes()
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.TotalAlloc-before.TotalAlloc)-float64(outputs))
	}
	return least / calls / (1 << 10), nil
}

// caseInput returns the one input of a case that apps.py wrote.
func caseInput(ctx context.Context, path string) (name string, x *tensor.Tensor, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	z, err := tensor.OpenNPZ(f, info.Size(), nil)
	if err != nil {
		return "", nil, err
	}
	for _, n := range z.Names() {
		if input, ok := strings.CutPrefix(n, "in:"); ok {
			x, err = z.Read(ctx, n)
			return input, x, err
		}
	}
	return "", nil, fmt.Errorf("%s holds no input", path)
}

// batched returns x's examples, repeated until there are size.
func batched(x *tensor.Tensor, size int) (*tensor.Tensor, error) {
	dims := x.Shape().Clone()
	dims[0] = size
	out, err := tensor.Zeros(x.DType(), dims...)
	if err != nil {
		return nil, err
	}
	for b := out.Bytes(); len(b) > 0; {
		b = b[copy(b, x.Bytes()):]
	}
	return out, nil
}
