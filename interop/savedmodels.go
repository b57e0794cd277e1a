package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing/fstest"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// savedModelCases writes SavedModels for peer/savedmodels.py: models that are built here
// into go/savedmodels, and the test data's models, restored and saved again, into
// go/resaved. Edited models are in go/savedmodels too, as edited_…. Each has a .npz file with
// calls and their results next to it. peer/resaved.py compares go/resaved, and the models that
// are rewritten without calls, in go/odd and go/tf1. The numbers of models here are only lower
// bounds, against a directory that is empty by mistake.
func savedModelCases(ctx context.Context, r *run) {
	for _, b := range []struct {
		name  string
		build func() (builtModel, error)
	}{
		{"linear", buildLinear}, {"counter", buildCounter}, {"texts", buildTexts}, {"tables", buildTables}, {"training", buildTraining},
	} {
		r.check("write the SavedModel "+b.name, func() error {
			m, err := b.build()
			if err != nil {
				return err
			}
			dir := r.ours("savedmodels", b.name)
			opts := &savedmodel.SaveOptions{Signatures: m.signatures, SignatureDefaults: m.defaults}
			if err := savedmodel.Save(ctx, m.root, dir, opts); err != nil {
				return err
			}
			return writeCalls(dir+".npz", m.calls)
		})
	}
	models := filepath.Join("savedmodel", "testdata", "models")
	for name, edits := range map[string]convert.ModelEdits{
		"mlp": frozen, "lstm": frozen, "text": {Serving: true}, "tables": {Serving: true},
		// Not frozen: with constants as weights TensorFlow's remapper changes the answers of sessions by 0.03.
		"transformer": {Serving: true, Cast: []convert.Cast{{Match: regexp.MustCompile("kernel"), To: tensor.Float64}}},
		"keras_mlp":   {Cast: []convert.Cast{{Match: regexp.MustCompile("kernel"), To: tensor.Float64}}},
	} {
		r.check("edit the SavedModel "+name, func() error {
			from, dir := filepath.Join(models, name), r.ours("savedmodels", "edited_"+name)
			calls, err := madeCalls(ctx, from)
			if err != nil {
				return err
			}
			_, _, err = convert.EditModel(ctx, from, dir, edits, nil)
			return errors.Join(err, writeCalls(dir+".npz", calls))
		})
	}
	r.check("save the SavedModel of a registered saver", func() error { return saveRegistered(ctx, r) })
	list, err := os.ReadDir(models)
	if err != nil {
		r.result("SavedModels saved again", wrongs(err), "")
	}
	saved := 0
	for _, e := range list {
		from := filepath.Join(models, e.Name())
		calls, err := madeCalls(ctx, from)
		if err != nil {
			r.result("call the SavedModel "+e.Name(), wrongs(err), "")
			continue
		}
		if len(calls) == 0 {
			continue
		}
		saved++
		r.check("save the SavedModel "+e.Name()+" again", func() error {
			m, err := savedmodel.Restore(ctx, os.DirFS(from), nil)
			if err != nil {
				return err
			}
			dir := r.ours("resaved", e.Name())
			return errors.Join(savedmodel.Save(ctx, m.Root, dir, nil), writeCalls(dir+".npz", calls))
		})
	}
	rewriteModels(ctx, r, filepath.Join(r.root, "odd"), "odd", "")
	rewriteModels(ctx, r, models, "tf1", "tf1_")
	if saved < 10 {
		r.result("SavedModels saved again", []string{fmt.Sprintf("there are only %d", saved)}, "")
	}
}

// rewriteModels writes the models in a directory whose names begin with prefix again,
// as cairn convert does, into the directory called into.
func rewriteModels(ctx context.Context, r *run, from, into, prefix string) {
	dirs, err := filepath.Glob(filepath.Join(from, prefix+"*"))
	if err != nil || len(dirs) < 5 {
		r.result("rewrite SavedModels of "+from, []string{fmt.Sprintf("there are only %d", len(dirs))}, "")
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		r.check("rewrite the SavedModel "+name, func() error {
			_, err := convert.Convert(ctx, dir, r.ours(into, name), nil)
			return err
		})
	}
}

// frozen makes a model's weights constants and leaves its signatures.
var frozen = convert.ModelEdits{Serving: true, Freeze: []*regexp.Regexp{regexp.MustCompile(".")}}

// signatureCall is a call of a signature with its results.
type signatureCall struct {
	signature string
	in, out   map[string]*tensor.Tensor
}

// writeCalls writes calls as peer/savedmodels.py reads them: arrays with names like
// "0|serving_default|in|x", the number of the call first.
func writeCalls(name string, calls []signatureCall) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := tensor.NewNPZWriter(f, nil)
	for i, c := range calls {
		for way, tensors := range map[string]map[string]*tensor.Tensor{"in": c.in, "out": c.out} {
			for k, t := range tensors {
				err = errors.Join(err, w.Add(fmt.Sprintf("%d|%s|%s|%s", i, c.signature, way, k), t))
			}
		}
	}
	return errors.Join(err, w.Close(), f.Close())
}

// otherLoaders are models that Restore and Save can't write for every loader: their values
// are not in variables.
var otherLoaders = []string{
	"registered", // written by a registered saver of Python
}

// madeCalls calls the signatures of a model with made inputs. It returns no calls for a
// model without objects, and leaves out calls that fail or return other values the next
// time.
func madeCalls(ctx context.Context, dir string) ([]signatureCall, error) {
	m, err := savedmodel.Read(ctx, os.DirFS(dir), nil)
	if err != nil {
		return nil, err
	}
	if len(m.MetaGraphs) != 1 || slices.Contains(otherLoaders, filepath.Base(dir)) {
		return nil, nil
	}
	g := m.MetaGraphs[0]
	if len(g.Objects) == 0 {
		return nil, nil
	}
	model, err := cairn.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return nil, err
	}
	again, err := model.Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	var calls []signatureCall
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range g.Signatures {
		for range 2 {
			c := signatureCall{signature: s.Name, in: map[string]*tensor.Tensor{}}
			for _, in := range s.Inputs {
				if in.Parts == nil {
					c.in[in.Name] = madeInput(in, random)
				}
			}
			if len(c.in) != len(s.Inputs) {
				break
			}
			if c.out, err = model.Call(ctx, s.Name, c.in); err != nil {
				continue
			}
			second, err := again.Call(ctx, s.Name, c.in)
			if err != nil || len(c.out) == 0 || !maps.EqualFunc(c.out, second, (*tensor.Tensor).Equal) {
				continue
			}
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// madeInput returns an input that a signature takes, with sizes of 2 for those that aren't
// known. It returns nil for a huge one.
func madeInput(in savedmodel.TensorInfo, random *rand.Rand) *tensor.Tensor {
	shape := tensor.Shape{2}
	if in.Shape.HasRank() {
		shape = shape[:0]
		for _, d := range in.Shape.Dims() {
			shape = append(shape, cmp.Or(max(d, 0), 2))
		}
	}
	n, err := shape.NumElements()
	if err != nil || n > 1<<20 {
		return nil // the call fails
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = random.Float32()
		if !in.DType.IsFloating() {
			values[i] = float32(random.IntN(2))
		}
	}
	if in.DType == tensor.String {
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = []string{"the cat", "sat"}[int(v)]
		}
		return tensor.Must(tensor.New(words, shape...))
	}
	return tensor.Must(tensor.Cast(tensor.Must(tensor.New(values, shape...)), in.DType))
}

// builtModel is a model that is built here.
type builtModel struct {
	root       trackable.Trackable
	signatures map[string]*graph.Concrete
	defaults   map[string]map[string]*tensor.Tensor // by signature and input
	calls      []signatureCall                      // one after the other, from the saved state on
}

// The fields of these types are the names of inputs and outputs of signatures.
type (
	linearIn  struct{ X, Scale *ops.Value }
	linearOut struct{ Probs, Logits *ops.Value }
	textIn    struct{ Text *ops.Value }
	textOut   struct{ Length, Upper *ops.Value }
	pairIn    struct{ X, Y *ops.Value }
	lossOut   struct{ Loss *ops.Value }
	stepIn    struct{ By *ops.Value }
	countOut  struct{ Count *ops.Value }
)

type linearModel struct {
	W, B    *trackable.Variable
	Predict *function.Func[linearIn, linearOut]
}

// buildLinear returns a model with two signatures of one function, one with a default.
func buildLinear() (builtModel, error) {
	m := &linearModel{
		W: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))),
		B: trackable.NewVariable(tensor.Vector[float32](0.5, -0.5)),
	}
	m.Predict = function.New(func(s *ops.Scope, in linearIn) linearOut {
		logits := ops.Mul(s, ops.Add(s, ops.MatMul(s, in.X, m.W), m.B), in.Scale)
		return linearOut{Probs: ops.Softmax(s, logits), Logits: logits}
	})
	serve, err := m.Predict.Trace(linearIn{X: ops.Spec(tensor.Float32, -1, 4), Scale: ops.Spec(tensor.Float32)})
	if err != nil {
		return builtModel{}, err
	}
	x := tensor.Must(tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 4))
	half := tensor.Scalar[float32](0.5)
	out, err := m.Predict.Call(context.Background(), linearIn{X: ops.ValueOf(x), Scale: ops.ValueOf(half)})
	if err != nil {
		return builtModel{}, err
	}
	answers, err := tensorsOf(map[string]*ops.Value{"probs": out.Probs, "logits": out.Logits})
	call := func(signature string) signatureCall {
		return signatureCall{signature, map[string]*tensor.Tensor{"x": x, "scale": half}, answers}
	}
	return builtModel{
		root: m, signatures: map[string]*graph.Concrete{"serving_default": serve, "optional scale": serve},
		defaults: map[string]map[string]*tensor.Tensor{"optional scale": {"scale": tensor.Scalar[float32](1)}},
		calls:    []signatureCall{call("serving_default"), call("optional scale")},
	}, err
}

type counterModel struct {
	Count *trackable.Variable
	Step  *function.Func[stepIn, countOut]
}

// buildCounter returns a model whose signature changes a variable.
func buildCounter() (builtModel, error) {
	m := &counterModel{Count: trackable.NewVariable(tensor.Scalar[int64](5))}
	m.Step = function.New(func(s *ops.Scope, in stepIn) countOut {
		ops.AssignAdd(s, m.Count, in.By)
		return countOut{ops.ReadVariable(s, m.Count)}
	})
	step, err := m.Step.Trace(stepIn{ops.Spec(tensor.Int64)})
	call := func(by, count int64) signatureCall {
		return signatureCall{"serving_default", map[string]*tensor.Tensor{"by": tensor.Scalar(by)}, map[string]*tensor.Tensor{"count": tensor.Scalar(count)}}
	}
	return builtModel{root: m, signatures: map[string]*graph.Concrete{"serving_default": step}, calls: []signatureCall{call(2, 7), call(-4, 3)}}, err
}

type textModel struct {
	Measure *function.Func[textIn, textOut]
}

// buildTexts returns a model without variables whose signature takes strings.
func buildTexts() (builtModel, error) {
	m := &textModel{}
	m.Measure = function.New(func(s *ops.Scope, in textIn) textOut {
		return textOut{Length: raw.StringLength(s, in.Text, nil), Upper: raw.StringUpper(s, in.Text, nil)}
	})
	c, err := m.Measure.Trace(textIn{ops.Spec(tensor.String, -1)})
	return builtModel{root: m, signatures: map[string]*graph.Concrete{"serving_default": c}, calls: []signatureCall{{
		"serving_default", map[string]*tensor.Tensor{"text": tensor.Vector("a", "", "the cat")},
		map[string]*tensor.Tensor{"length": tensor.Vector[int32](1, 0, 7), "upper": tensor.Vector("A", "", "THE CAT")},
	}}}, err
}

// tableModel captures tables of each kind and an asset.
type tableModel struct {
	Words  *lookup.StaticHashTable
	File   *lookup.StaticHashTable
	Vocab  *lookup.StaticVocabularyTable
	Counts *lookup.MutableHashTable
	Dense  *lookup.DenseHashTable
	Notes  *savedmodel.TrackableAsset
	Find   *function.Func[wordsIn, foundOut]
}

type wordsIn struct{ Words *ops.Value }

type foundOut struct{ Known, File, Vocab, Counts, Dense, Size, Note *ops.Value }

// buildTables returns a model that looks words up in its tables and reads its asset.
func buildTables() (builtModel, error) {
	ctx := context.Background()
	files := fstest.MapFS{"vocab.txt": {Data: []byte("a\nb\nc\n")}, "notes/readme.txt": {Data: []byte("read me")}}
	pairs := lookup.KeyValueTensorInitializer{Keys: []string{"x", "y"}, Values: []int64{0, 1}}
	m := &tableModel{Notes: savedmodel.NewAssetFS(files, "notes/readme.txt")}
	var errs [5]error
	m.Words, errs[0] = lookup.NewStaticHashTable(pairs, -1, nil)
	m.File, errs[1] = lookup.NewStaticHashTable(lookup.TextFileInitializer{File: savedmodel.NewAssetFS(files, "vocab.txt"), KeyIndex: lookup.WholeLine, ValueIndex: lookup.LineNumber}, -1, nil)
	m.Vocab, errs[2] = lookup.NewStaticVocabularyTable(pairs, 2, nil)
	m.Counts, errs[3] = lookup.NewMutableHashTable(tensor.String, -1, nil)
	m.Dense, errs[4] = lookup.NewDenseHashTable("", "\x00", float32(0), nil)
	if err := errors.Join(errs[:]...); err != nil {
		return builtModel{}, err
	}
	s := function.Eager(ctx)
	m.Counts.Insert(s, []string{"q", "x"}, []int64{7, 8})
	m.Dense.Insert(s, []string{"b"}, []float32{0.5})
	if err := s.Close(); err != nil {
		return builtModel{}, err
	}
	m.Find = function.New(func(s *ops.Scope, in wordsIn) foundOut {
		return foundOut{Known: m.Words.Lookup(s, in.Words), File: m.File.Lookup(s, in.Words), Vocab: m.Vocab.Lookup(s, in.Words), Counts: m.Counts.Lookup(s, in.Words),
			Dense: m.Dense.Lookup(s, in.Words), Size: m.Counts.Size(s), Note: raw.ReadFile(s, m.Notes)}
	})
	c, err := m.Find.Trace(wordsIn{ops.Spec(tensor.String, -1)})
	return builtModel{root: m, signatures: map[string]*graph.Concrete{"serving_default": c}, calls: []signatureCall{{
		"serving_default", map[string]*tensor.Tensor{"words": tensor.Vector("x", "b", "q", "none")},
		map[string]*tensor.Tensor{"known": tensor.Vector[int64](0, -1, -1, -1), "file": tensor.Vector[int64](-1, 1, -1, -1), "vocab": tensor.Vector[int64](0, 2, 3, 2),
			"counts": tensor.Vector[int64](8, -1, 7, -1), "dense": tensor.Vector[float32](0, 0.5, 0, 0),
			"size": tensor.Scalar[int64](2), "note": tensor.Scalar("read me")},
	}}}, err
}

type trainingModel struct {
	W     *trackable.Variable
	Train *function.Func[pairIn, lossOut]
}

// buildTraining returns a model whose signature is a step of gradient descent.
func buildTraining() (builtModel, error) {
	build := func() *trainingModel {
		m := &trainingModel{W: trackable.NewVariable(tensor.Must(tensor.New([]float32{0.5, -0.5}, 2, 1)))}
		m.Train = function.New(func(s *ops.Scope, in pairIn) lossOut {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				return ops.Mean(s, ops.Square(s, ops.Sub(s, ops.MatMul(s, in.X, m.W), in.Y)))
			})
			ops.AssignSub(s, m.W, ops.Mul(s, tape.Gradient(loss, []*trackable.Variable{m.W})[0].Grad, float32(0.1)))
			return lossOut{loss}
		})
		return m
	}
	m, trained := build(), build()
	step, err := m.Train.Trace(pairIn{ops.Spec(tensor.Float32, -1, 2), ops.Spec(tensor.Float32, -1, 1)})
	b := builtModel{root: m, signatures: map[string]*graph.Concrete{"train": step}}
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	y := tensor.Must(tensor.New([]float32{1, 0, 1}, 3, 1))
	for range 5 {
		out, stepErr := trained.Train.Call(context.Background(), pairIn{ops.ValueOf(x), ops.ValueOf(y)})
		if err = errors.Join(err, stepErr); err != nil {
			break
		}
		answers, stepErr := tensorsOf(map[string]*ops.Value{"loss": out.Loss})
		err = errors.Join(err, stepErr)
		b.calls = append(b.calls, signatureCall{"train", map[string]*tensor.Tensor{"x": x, "y": y}, answers})
	}
	return b, err
}

// tensorsOf returns the tensors of values.
func tensorsOf(values map[string]*ops.Value) (map[string]*tensor.Tensor, error) {
	out := map[string]*tensor.Tensor{}
	var err error
	for k, v := range values {
		t, one := v.Tensor()
		out[k], err = t, errors.Join(err, one)
	}
	return out, err
}
