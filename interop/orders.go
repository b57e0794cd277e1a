package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// orderStep is a step of a program that peer/orders.py describes. On and Other are numbers of
// objects, CK and File those of checkpoints and files. The method step shows the meaning of Do
// and How.
type orderStep struct {
	Do, Field, Key, How string
	On, Other, CK, File int
	Value               float32
}

// orderObject has every kind of place for a child.
type orderObject struct {
	trackable.Base
	A, B *trackable.Variable
	X, Y *orderObject
	L    *trackable.List[*orderObject]
	S    []*orderObject
	M    *trackable.Map[*orderObject]
	D    map[string]*orderObject

	made      map[string]*trackable.Variable `cairn:"-"` // attached
	optimizer *orderOptimizer                `cairn:"-"` // attached
}

// orderOptimizer is an optimizer with one slot for each variable.
type orderOptimizer struct {
	trackable.Base
	trackable.Slots
}

// variable returns the place of a variable, nil if there is none of that name.
func (o *orderObject) variable(field string) *trackable.Variable {
	switch field {
	case "a":
		return o.A
	case "b":
		return o.B
	}
	return o.made[field]
}

// set sets a field to an object, or to a variable.
func (o *orderObject) set(field string, v *trackable.Variable, x *orderObject) {
	switch field {
	case "a":
		o.A = v
	case "b":
		o.B = v
	case "x":
		o.X = x
	case "y":
		o.Y = x
	}
}

// orderProgram is a program that runs.
type orderProgram struct {
	folder      string
	objects     map[int]*orderObject
	checkpoints []*checkpoint.Checkpoint
	managers    map[string]*checkpoint.Manager // by their directories
	report      *checkpoint.Report
}

// pair returns the tensor [x, y].
func pair(x, y float32) *tensor.Tensor { return tensor.Must(tensor.New([]float32{x, y}, 2)) }

// step executes a step. said is the message of an assertion, which doesn't end the program
// as an error does.
func (p *orderProgram) step(ctx context.Context, s *orderStep) (said, err error) {
	on, other := p.objects[s.On], p.objects[s.Other]
	value := pair(s.Value, s.Value+1)
	switch s.Do {
	case "object":
		p.objects[s.On] = &orderObject{made: map[string]*trackable.Variable{}}
	case "variable":
		on.set(s.Field, trackable.NewVariable(value), nil)
	case "make":
		if on.made[s.Field] != nil {
			return nil, nil
		}
		var v *trackable.Variable
		err = on.AddVariable(&v, s.Field, trackable.VariableSpec{Shape: value.Shape(), Init: func() (*tensor.Tensor, error) { return value, nil }})
		on.made[s.Field] = v
	case "field":
		on.set(s.Field, nil, other)
	case "append":
		if s.Field == "s" {
			on.S = append(on.S, other)
			return nil, nil
		}
		if on.L == nil {
			on.L = trackable.NewList[*orderObject]()
		}
		err = on.L.Append(other)
	case "put":
		if s.Field == "d" {
			if on.D == nil {
				on.D = map[string]*orderObject{}
			}
			on.D[s.Key] = other
			return nil, nil
		}
		if on.M == nil {
			on.M = trackable.NewMap[*orderObject]()
		}
		err = on.M.Set(s.Key, other)
	case "attach":
		err = on.Attach(s.Field, other)
	case "write":
		v := on.variable(s.Field)
		if v == nil {
			return nil, nil
		}
		if s.How == "directly" {
			return nil, v.Store(value)
		}
		_, err = function.New(func(sc *ops.Scope, x *ops.Value) *ops.Value {
			ops.Assign(sc, v, x)
			return x
		}).Call(ctx, ops.ValueOf(value))
	case "train":
		vars, err := trackable.Variables(on)
		if err != nil {
			return nil, err
		}
		_, err = function.New(func(sc *ops.Scope, x *ops.Value) *ops.Value {
			for _, v := range vars {
				if v.DType() == tensor.Float32 {
					ops.AssignAdd(sc, v, x)
				}
			}
			return x
		}).Call(ctx, ops.ValueOf(pair(1, 2)))
		return nil, err
	case "share":
		if v := other.variable(s.Key); v != nil {
			on.set(s.Field, v, nil)
		}
	case "optimizer":
		if on.optimizer != nil {
			return nil, nil
		}
		on.optimizer = new(orderOptimizer)
		on.optimizer.DeclareSlots("m")
		err = on.Attach("o", on.optimizer)
	case "slot":
		v := on.variable(s.Field)
		if v == nil || on.optimizer == nil {
			return nil, nil
		}
		if slot := on.optimizer.Slot(v, "m"); slot != nil {
			return nil, slot.Store(value)
		}
		_, err = on.optimizer.SlotOr(v, "m", func() (*tensor.Tensor, error) { return value, nil })
	case "drop":
		on.set(s.Field, nil, nil)
	case "open":
		var root any = on
		switch s.How {
		case "edge":
			root = &struct{ N *orderObject }{on}
		case "path":
			root = &struct{ N any }{&struct{ X *orderObject }{on}}
		}
		ck, err := checkpoint.New(root, nil)
		p.checkpoints = append(p.checkpoints, ck)
		return nil, err
	case "save":
		err = p.checkpoints[s.CK].Write(ctx, p.path(strconv.Itoa(s.File)))
	case "restore":
		p.report, err = p.checkpoints[s.CK].Read(ctx, p.path(strconv.Itoa(s.File)), &checkpoint.RestoreOptions{
			Partial: s.How == "partial" || s.How == "both", AllowMissing: s.How == "missing" || s.How == "both"})
	case "manage":
		name := p.path(fmt.Sprintf("m%d-%d", s.CK, s.File))
		m := p.managers[name]
		if m == nil {
			if m, err = checkpoint.NewManager(p.checkpoints[s.CK], name, &checkpoint.ManagerOptions{MaxToKeep: 2}); err != nil {
				return nil, err
			}
			p.managers[name] = m
		}
		_, err = m.Save(ctx)
	case "latest":
		p.report, err = p.checkpoints[s.CK].Restore(ctx, p.path(fmt.Sprintf("m%d-%d", s.Other, s.File)), &checkpoint.RestoreOptions{
			Partial: s.How == "both", AllowMissing: s.How == "both"})
	case "assert":
		switch {
		case p.report == nil:
		case s.How == "consumed":
			said = p.report.AssertConsumed()
		default:
			said = p.report.AssertExistingObjectsMatched()
		}
	case "end":
		all := map[string]*orderObject{}
		for i, o := range p.objects {
			all["n"+strconv.Itoa(i)] = o
		}
		ck, err := checkpoint.New(all, nil)
		if err != nil {
			return nil, err
		}
		return nil, ck.Write(ctx, p.path("end"))
	default:
		err = fmt.Errorf("what is %q?", s.Do)
	}
	return said, err
}

func (p *orderProgram) path(file string) string { return p.folder + "/" + file }

// orderCases runs the programs that save, restore and assign in random orders, each up to
// the step that is refused. It writes the messages of all steps to said.json, null for none.
// peer/check.py compares them and the checkpoints.
func orderCases(ctx context.Context, r *run) {
	var all [][]*string
	for i, steps := range r.specs.Orders {
		p := &orderProgram{folder: r.ours("orders", strconv.Itoa(i)), objects: map[int]*orderObject{}, managers: map[string]*checkpoint.Manager{}}
		var lines []*string
		for k := range steps {
			said, err := p.step(ctx, &steps[k])
			if err != nil {
				said = err
			}
			var line *string
			if said != nil {
				text := said.Error()
				line = &text
			}
			if lines = append(lines, line); err != nil {
				break
			}
		}
		for name, m := range p.managers {
			r.check("closing "+name, m.Close)
		}
		all = append(all, lines)
	}
	r.check("programs of every order", func() error {
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return os.WriteFile(r.ours("orders", "said.json"), text, 0o666)
	})
}
