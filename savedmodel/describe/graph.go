package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/savedmodel"
)

// Objects returns the object graph, ready to be drawn, in breadth-first order from the root. If all is
// set, it includes functions and the lists in which Keras repeats its objects. Objects to which no
// edge leads are left out, but for slot variables.
func (x *MetaGraph) Objects(all bool) *render.Graph {
	g := x.meta
	out := &render.Graph{Nodes: []render.Node{{}}}
	if len(g.Objects) == 0 {
		return out
	}
	stored := map[string]Variable{}
	for _, v := range x.Variables {
		stored[v.Path] = v
	}
	slots := slotsOf(g)
	paths := g.Paths()
	named := map[string]Layer{}
	for _, l := range x.Layers {
		named[l.Path] = l
	}
	at := map[*savedmodel.Object]int{g.Objects[0]: 0}
	add := func(o *savedmodel.Object) int {
		id := len(out.Nodes)
		at[o] = id
		n := objectNode(x, o, stored[paths[o.ID]])
		if l, ok := named[paths[o.ID]]; ok {
			// Keras's class and name replace the kind of object.
			n.Info = strings.TrimSpace(l.Class + " " + l.Name)
		}
		out.Nodes = append(out.Nodes, n)
		return id
	}
	out.Nodes[0] = objectNode(x, g.Objects[0], Variable{})
	for queue := []*savedmodel.Object{g.Objects[0]}; len(queue) > 0; queue = queue[1:] {
		o := queue[0]
		for _, e := range o.Children {
			if !all && hidden(o, e) {
				continue
			}
			id, seen := at[e.Object]
			if !seen {
				id = add(e.Object)
				if v := e.Object.Variable; v != nil && isNumber(e.Name) && v.Name != "" {
					out.Nodes[id].Info += ", " + v.Name
				}
				queue = append(queue, e.Object)
			}
			out.Edges = append(out.Edges, render.Edge{From: at[o], To: id, Label: e.Name, Tree: !seen})
		}
	}
	for _, o := range g.Objects {
		owner, reached := at[o]
		if !reached {
			continue
		}
		if len(o.Slots) > 0 {
			out.Nodes[owner].Kind = render.Optimizer
			out.Nodes[owner].Info = slotWords(o)
		}
		for _, s := range o.Slots {
			from, reached := at[s.Original]
			if !reached {
				continue
			}
			id, seen := at[s.Slot]
			if !seen {
				id = add(s.Slot)
			}
			if slots[s.Slot] {
				out.Nodes[id].Kind = render.Slot
			}
			out.Edges = append(out.Edges, render.Edge{From: from, To: id, Label: s.Name, Slot: true, Tree: !seen},
				render.Edge{From: owner, To: id, Label: s.Name, Slot: true})
		}
	}
	out.Link()
	return out
}

// kerasLists are edges of Keras's objects to objects that other edges reach
// too.
var kerasLists = map[string]bool{
	"keras_api": true, "variables": true, "trainable_variables": true, "non_trainable_variables": true, "regularization_losses": true,
}

// exportLists are edges of the root of an export of Keras 3 besides "variables", which
// has all of them.
var exportLists = map[string]bool{"trainable_variables": true, "non_trainable_variables": true, "_all_variables": true, "_misc_assets": true}

func isNumber(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}

// hidden reports whether a short tree leaves an edge of o out.
func hidden(o *savedmodel.Object, e savedmodel.Edge) bool {
	if exportLists[e.Name] && o.Child("variables") != nil && o.Child("_all_variables") != nil {
		return true
	}
	return e.Object.Function != nil || e.Object.Identifier == "signature_map" || kerasLists[e.Name] && strings.HasPrefix(o.Identifier, "_tf_keras_")
}

// slotsOf returns the objects that are slot variables and nothing else.
func slotsOf(g *savedmodel.MetaGraph) map[*savedmodel.Object]bool {
	slots := map[*savedmodel.Object]bool{}
	for _, o := range g.Objects {
		for _, s := range o.Slots {
			slots[s.Slot] = true
		}
	}
	return slots
}

func slotWords(o *savedmodel.Object) string {
	var names []string
	of := map[*savedmodel.Object]bool{}
	for _, s := range o.Slots {
		if len(names) < 8 && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
		of[s.Original] = true
	}
	return fmt.Sprintf("slots %s of %d variables", strings.Join(names, ", "), len(of))
}

// objectNode describes an object.
func objectNode(x *MetaGraph, o *savedmodel.Object, stored Variable) render.Node {
	n := render.Node{}
	var info []string
	switch o.Kind {
	case savedmodel.VariableObject:
		n.Kind = render.Variable
		s := dtypeWords(o.Variable.DType)
		if !o.Variable.Shape.HasRank() || o.Variable.Shape.Rank() > 0 {
			s += " " + Shape{o.Variable.Shape}.String()
		}
		info = append(info, s)
		if stored.Bytes >= 1024 {
			info = append(info, inspect.Size(stored.Bytes))
		}
		n.Value = string(stored.Value)
	case savedmodel.AssetObject:
		info = append(info, "asset "+o.Asset.Name)
	case savedmodel.ConstantObject:
		info = append(info, "constant"+constantWords(x.meta, o))
	case savedmodel.FunctionObject, savedmodel.BareFunction:
		words := "function"
		if p := o.Function.Parameters; p != nil {
			words += " " + p.String()
		}
		if len(o.Function.Concrete) != 1 {
			words += fmt.Sprintf(", %d traces", len(o.Function.Concrete))
		}
		info = append(info, words)
	case savedmodel.ResourceObject:
		info = append(info, "resource")
	case savedmodel.CapturedTensor:
		info = append(info, "captured tensor "+o.Tensor)
	case savedmodel.UserObject:
		if o.Identifier != "" && !plain[o.Identifier] {
			info = append(info, o.Identifier)
		}
	}
	if o.RegisteredName != "" {
		info = append(info, "registered as "+o.RegisteredName)
	}
	if o.RegisteredSaver != "" {
		info = append(info, "saved by "+o.RegisteredSaver)
	}
	n.Info = strings.Join(info, ", ")
	return n
}

// plain are identifiers that don't describe an object.
var plain = map[string]bool{
	"_generic_user_object": true, "trackable_list_wrapper": true, "trackable_dict_wrapper": true, "trackable_tuple_wrapper": true, "signature_map": true,
}

// constantWords returns the type and shape of a constant.
func constantWords(g *savedmodel.MetaGraph, o *savedmodel.Object) string {
	gr, err := g.Graph()
	if err != nil {
		return ""
	}
	node := gr.Lookup(o.Constant)
	if node == nil {
		return ""
	}
	t := node.Attrs.Tensor("value")
	if t == nil {
		return ""
	}
	if len(t.Shape()) == 0 {
		return " " + t.DType().String()
	}
	return fmt.Sprintf(" %v %v", t.DType(), t.Shape())
}
