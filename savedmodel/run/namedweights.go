package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// assignment is the value that a restore op of TensorFlow 1 assigns to one
// variable.
type assignment struct {
	variable *graph.Node // the node that makes the variable
	key      string      // the tensor's name in the checkpoint
	spec     string      // shape and slice as RestoreV2 takes them, "4 2 0,2:-"; "" for the whole tensor
	dtype    tensor.DType
}

// readNamedWeights reads the values that the graph's restore op would read:
// each variable's value, or its slice of one. If the op has a form that
// TensorFlow doesn't write, each instance runs it instead.
func (p *program) readNamedWeights(ctx context.Context, r *bundle.Reader) error {
	var list []assignment
	if _, restore := p.meta.SaverOps(); restore == "" {
		var err error
		if list, err = p.collectionAssignments(); err != nil {
			return p.badFile(err)
		}
	} else {
		op, err := p.graph.Find(restore)
		if err != nil {
			return p.badFile(fmt.Errorf("the saver: %w", err))
		}
		var ok bool
		if list, ok = assignments(op.Node); !ok {
			return p.restoreByOp()
		}
	}
	reqs := make([]bundle.ReadRequest, len(list))
	for i, a := range list {
		reqs[i].Name = a.key
		e, ok := r.Entry(a.key)
		if !ok {
			return fmt.Errorf("savedmodel: the checkpoint lacks the tensor %q of the variable %q", a.key, a.variable.Name)
		}
		if e.DType != a.dtype {
			return fmt.Errorf("savedmodel: the checkpoint's tensor %q is %v, the graph wants %v", a.key, e.DType, a.dtype)
		}
		if a.spec == "" {
			continue
		}
		full, part, err := bundle.ParseShapeAndSlice(a.spec)
		if err != nil {
			return fmt.Errorf("savedmodel: the variable %q: %w", a.variable.Name, err)
		}
		if !e.Shape.Equal(full) {
			return fmt.Errorf("savedmodel: the checkpoint's tensor %q has shape %v, the graph says %v", a.key, e.Shape, full)
		}
		reqs[i].Slice = &part
	}
	if err := r.ReadAll(ctx, reqs, nil); err != nil {
		return fmt.Errorf("savedmodel: %w", err)
	}
	for i, a := range list {
		w := weight{tensor: reqs[i].Dst, key: engine.VariableKey(a.variable.Attrs.String("container", ""), sharedName(a.variable))}
		if o := p.graph.objectOf[a.variable]; o != nil {
			w.object = o
		}
		// The oldest op, Variable, has the shape [] if its shape isn't known.
		if s, ok := a.variable.Attrs.Shape("shape"); ok && !s.Accepts(w.tensor.Shape()) && a.variable.Op != "Variable" {
			return fmt.Errorf("savedmodel: the variable %q has shape %v, its value in the checkpoint %v", a.variable.Name, s, w.tensor.Shape())
		}
		p.weights = append(p.weights, w)
	}
	return nil
}

// variablesKey is the collection of a graph's variables.
const variablesKey = "variables"

// collectionAssignments returns the assignments for a graph without a saver, such as a module
// of TensorFlow Hub. As in TensorFlow, each variable of the collection is read
// under its name, and a part of a partitioned variable is a slice of the whole
// value.
func (p *program) collectionAssignments() (out []assignment, err error) {
	seen := map[*graph.Node]bool{}
	for _, c := range p.meta.Collections() {
		if c.Name != variablesKey {
			continue
		}
		for _, b := range c.Bytes {
			var def pb.VariableDef
			if err := def.Unmarshal(b); err != nil {
				return nil, fmt.Errorf("the collection %q: %w", c.Name, err)
			}
			v, err := p.graph.Find(def.VariableName)
			if err != nil {
				return nil, fmt.Errorf("the collection %q: %w", c.Name, err)
			}
			a := assignment{variable: v.Node, key: v.Node.Name, dtype: v.Node.Attrs.Type("dtype", tensor.Invalid)}
			if seen[a.variable] {
				continue
			}
			seen[a.variable] = true
			if s := def.SaveSliceInfoDef; s != nil {
				if len(s.VarOffset) != len(s.FullShape) || len(s.VarShape) != len(s.FullShape) {
					return nil, fmt.Errorf("the variable %q is a part of another rank than the whole", a.key)
				}
				a.key = s.FullName
				var spec strings.Builder
				for _, n := range s.FullShape {
					fmt.Fprintf(&spec, "%d ", n)
				}
				for i := range s.FullShape {
					if i > 0 {
						spec.WriteByte(':')
					}
					fmt.Fprintf(&spec, "%d,%d", s.VarOffset[i], s.VarShape[i])
				}
				a.spec = spec.String()
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// assignments returns the assignments of a restore op. Each op that it waits
// for must assign an output of RestoreV2, or be a NoOp that waits for such ops.
// Otherwise ok is false.
func assignments(op *graph.Node) (out []assignment, ok bool) {
	seen := map[*graph.Node]bool{op: true}
	for queue := []*graph.Node{op}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		switch n.Op {
		case "NoOp":
		case "Assign", "AssignVariableOp":
			a, ok := assignmentOf(n)
			if !ok {
				return nil, false
			}
			out = append(out, a)
		default:
			return nil, false
		}
		for _, c := range n.Control {
			if !seen[c] {
				seen[c] = true
				queue = append(queue, c)
			}
		}
	}
	return out, true
}

// assignmentOf returns the assignment of an op Assign or AssignVariableOp; ok is false if its value isn't
// an output of RestoreV2 with constant names.
func assignmentOf(n *graph.Node) (a assignment, ok bool) {
	if len(n.In) != 2 {
		return a, false
	}
	switch a.variable = n.In[0].Node; a.variable.Op {
	case "VariableV2", "Variable", "VarHandleOp":
	default:
		return a, false
	}
	from := n.In[1]
	for range 4 { // sharded savers pass the tensor on
		if from.Node.Op != "Identity" || len(from.Node.In) != 1 || len(from.Node.Control) > 0 {
			break
		}
		from = from.Node.In[0]
	}
	r := from.Node
	if r.Op != "RestoreV2" || len(r.In) != 3 || len(r.Control) > 0 {
		return a, false
	}
	names, specs := r.In[1].Node.Attrs.Tensor("value"), r.In[2].Node.Attrs.Tensor("value")
	types := r.Attrs.Types("dtypes")
	if names == nil || specs == nil || r.In[1].Node.Op != "Const" || r.In[2].Node.Op != "Const" ||
		names.DType() != tensor.String || specs.DType() != tensor.String ||
		from.Index >= names.Len() || from.Index >= specs.Len() || from.Index >= len(types) {
		return a, false
	}
	a.key, a.spec, a.dtype = names.Strings()[from.Index], specs.Strings()[from.Index], types[from.Index]
	return a, true
}

// findInit finds the ops that are run at loading. TensorFlow 2's objects are
// initialized one by one, when they are first needed.
func (p *program) findInit() error {
	if len(p.meta.Objects) > 0 || p.opts.NoInit {
		return nil
	}
	names, err := p.meta.InitOps()
	if err != nil {
		return p.badFile(err)
	}
	var ops []*graph.Node
	for _, name := range names {
		op, err := p.graph.Find(name)
		if err != nil {
			return p.badFile(fmt.Errorf("the op to run at loading: %w", err))
		}
		ops = append(ops, op.Node)
	}
	if len(ops) == 0 {
		return nil
	}
	p.init, err = p.prune(p.graph, "the op that is run at loading", nil, nil, ops)
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w; LoadOptions.NoInit loads the model without running it", err)
	}
	return err
}
