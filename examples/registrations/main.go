// Registrations saves objects with a custom saver: parts that are stacked into one
// tensor, by a saver that is written in ops. The SavedModel restores them by itself,
// wherever it is loaded.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Part is a variable with a separate type.
type Part struct{ trackable.Variable }

// Stack holds parts whose values are saved as one tensor.
type Stack struct {
	trackable.Base
	Parts []*Part
	Sum   *function.Func[*ops.Value, *ops.Value] // edge "sum"
}

// NewStack returns a stack of parts with these values.
func NewStack(values ...[]float32) *Stack {
	st := &Stack{}
	for _, v := range values {
		p := new(Part)
		p.Init(tensor.Vector(v...))
		st.Parts = append(st.Parts, p)
	}
	st.Sum = function.New(func(s *ops.Scope, scale *ops.Value) *ops.Value {
		return ops.Mul(s, scale, ops.Sum(s, st.Value(s)))
	})
	return st
}

// Value returns the parts' values, stacked.
func (st *Stack) Value(s *ops.Scope) *ops.Value { return ops.Stack(s, st.Parts) }

// Stacks saves stacks with their parts. Its name, and those of its tensors, are in saved
// files and must stay.
var Stacks = function.Saver{
	Name: "stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *Stack, *Part:
			return true
		}
		return false
	},
	Save: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) *ops.Value {
		return ops.SaveV2(s, prefix, slices(s, objs)) // returns the shard's prefix
	},
	Restore: func(s *ops.Scope, objs checkpoint.Objects, prefix *ops.Value) {
		values, i := ops.RestoreV2(s, prefix, slices(s, objs)), 0
		for _, st := range checkpoint.Only[*Stack](objs) {
			for j, part := range ops.Unstack(s, values[i], len(st.Parts)) {
				ops.Assign(s, st.Parts[j], part)
			}
			i++
		}
	},
}

// slices returns the tensors of the stacks in objs, in the order of objs.
func slices(s *ops.Scope, objs checkpoint.Objects) (out []ops.Slice) {
	for prefix, st := range checkpoint.Only[*Stack](objs) { // ordered: same state, same bytes
		out = append(out, ops.Slice{Name: prefix + "/value", Value: st.Value(s)})
	}
	return out
}

// Model is the saved object.
type Model struct{ Stack *Stack }

// run saves a model in dir.
func run(ctx context.Context, dir string) error {
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", Stacks); err != nil {
		return err
	}
	m := &Model{NewStack([]float32{1, 2}, []float32{3, 4}, []float32{5, 6})}
	sum, err := m.Stack.Sum.Trace(ops.Spec(tensor.Float32))
	if err != nil {
		return err
	}
	return savedmodel.Save(ctx, m, dir, &savedmodel.SaveOptions{
		Savers:     savers,
		Signatures: map[string]*function.Concrete{savedmodel.DefaultSignature: sum},
	})
}

func main() {
	dir := flag.String("o", "stacks_model", "the directory to write")
	flag.Parse()
	if err := run(context.Background(), *dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", *dir)
}
