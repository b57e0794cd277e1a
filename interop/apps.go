package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/kernel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// appCases runs the models that peer/apps.py wrote and compares their outputs with
// TensorFlow's. A run whose directory has none reports it: they take minutes to
// write.
func appCases(ctx context.Context, r *run) {
	dirs, err := filepath.Glob(filepath.Join(r.root, "apps", "*", "case.npz"))
	if err != nil || len(dirs) == 0 {
		r.result("apps", []string{"peer/apps.py wrote no models"}, "")
		return
	}
	for _, d := range dirs {
		dir := filepath.Dir(d)
		var worst float64
		err := guarded(func() (err error) {
			worst, err = answers(ctx, dir)
			return err
		})
		r.result("apps/"+filepath.Base(dir), wrongs(err), fmt.Sprintf("largest error %.2g", worst))
	}
}

// appTolerance is the greatest distance of an element from TensorFlow's, as a part of the
// largest element's magnitude. It is Cairn's choice.
const appTolerance = 1e-4

// answers runs the model in dir on the inputs of its case and returns the largest error of
// an output, relative to the output's largest element. All outputs must be float32.
func answers(ctx context.Context, dir string) (worst float64, err error) {
	in, want, err := appCase(ctx, filepath.Join(dir, "case.npz"))
	if err != nil {
		return 0, err
	}
	m, err := modelrun.Load(ctx, os.DirFS(dir), &modelrun.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		return 0, err
	}
	sig, err := m.Signature("serving_default")
	if err != nil {
		return 0, err
	}
	got, err := sig.Call(ctx, in)
	if err != nil {
		return 0, err
	}
	if len(want) == 0 {
		return 0, errors.New("case.npz has no outputs to compare with")
	}
	for name, w := range want {
		g := got[name]
		if g == nil || g.DType() != w.DType() || !g.Shape().Equal(w.Shape()) {
			return 0, fmt.Errorf("output %s is %v, TensorFlow's is %v%v", name, g, w.DType(), w.Shape())
		}
		var off, largest float64
		for i, y := range tensor.Values[float32](w) {
			off = max(off, math.Abs(float64(tensor.Values[float32](g)[i]-y)))
			largest = max(largest, math.Abs(float64(y)))
		}
		worst = max(worst, off/largest)
		if !(off <= appTolerance*largest) {
			err = fmt.Errorf("output %s is off by %g where the largest element is %g", name, off, largest)
		}
	}
	return worst, err
}

// appCase returns the inputs and outputs of a case: the arrays "in:NAME" and "out:NAME",
// as peer/apps.py calls them.
func appCase(ctx context.Context, path string) (in, out map[string]*tensor.Tensor, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	z, err := tensor.OpenNPZ(f, info.Size(), nil)
	if err != nil {
		return nil, nil, err
	}
	in, out = map[string]*tensor.Tensor{}, map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		t, err := z.Read(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if input, ok := strings.CutPrefix(name, "in:"); ok {
			in[input] = t
		} else {
			out[strings.TrimPrefix(name, "out:")] = t
		}
	}
	return in, out, nil
}
