package graph

import (
	"slices"
	"strings"
	"sync"

	"github.com/cairnml/cairn/tensor"
)

// Reference is an input or attribute of a node that names something outside of
// the graph: a file, a directory, an address, another device, a program or a
// serialized graph.
type Reference struct {
	// Effect is the effect of the node on it: some of [Outside].
	Effect Effect
	// Arg is the name of the input or attribute.
	Arg string
	// Attr reports whether Arg is an attribute.
	Attr bool
	// Input is the output of another node that an input takes. It is zero for an
	// attribute, and for an input after others of unknown number.
	Input Output
	// Names are the values, if Known.
	Names []string
	// Known reports whether the values are in the graph. Default: they depend
	// on the call.
	Known bool
}

// References returns the inputs and attributes of the node that name things
// outside of the graph, by a table of TensorFlow's ops. Values that name nothing are
// left out, such as the empty file name of a cache in memory.
func (n *Node) References() []Reference {
	rows := referencesByOp()[n.Op]
	if rows == nil {
		return nil
	}
	d := n.Def
	if d == nil {
		d = LookupOp(n.Op)
	}
	var list []Reference
	for _, row := range rows {
		for _, arg := range row.args {
			r := Reference{Effect: row.effect, Arg: arg}
			if d.Attr(arg) != nil {
				r.Attr, r.Known = true, true
				r.Names = attrStrings(n, d, arg)
			} else if i := inputIndex(d, arg); i >= 0 && i < len(n.In) {
				r.Input = n.In[i]
				r.Names, r.Known = constantStrings(n.In[i].Node)
			}
			if r.Known && row.harmless != nil {
				r.Names = slices.DeleteFunc(slices.Clone(r.Names), row.harmless)
				if len(r.Names) == 0 {
					continue
				}
			}
			if row.narrow != nil && r.Known {
				r.Effect = row.narrow(r.Names)
			}
			list = append(list, r)
		}
	}
	return list
}

// attrStrings returns the values of an attribute that holds strings.
func attrStrings(n *Node, d *OpDef, name string) []string {
	a, ok := n.Attrs.Lookup(name)
	if !ok {
		if a, ok = d.Attr(name).Default(); !ok {
			return nil
		}
	}
	switch v := a.Value().(type) {
	case string:
		return []string{v}
	case []string:
		return v
	}
	return nil
}

// inputIndex returns the index of the op's input of that name, -1 if there is
// none or inputs of unknown number come before it.
func inputIndex(d *OpDef, name string) int {
	for i := range d.Inputs {
		if d.Inputs[i].Name == name {
			return i
		}
		if d.Inputs[i].List() {
			break
		}
	}
	return -1
}

// maxForwards bounds the nodes between a constant and its user.
const maxForwards = 64

// constantStrings returns the strings of a constant, also through nodes that
// return the elements of their input.
func constantStrings(n *Node) ([]string, bool) {
	for range maxForwards {
		switch n.Op {
		case "Const", "HostConst":
			t := n.Attrs.Tensor("value")
			if t == nil || t.DType() != tensor.String {
				return nil, false
			}
			return t.Strings(), true
		case "Identity", "StopGradient", "Snapshot", "Reshape", "ExpandDims", "Squeeze", "EnsureShape":
			if len(n.In) == 0 {
				return nil, false
			}
			n = n.In[0].Node
		default:
			return nil, false
		}
	}
	return nil, false
}

// referenceRow is a row of referenceList for one op.
type referenceRow struct {
	effect   Effect
	args     []string
	harmless func(value string) bool      // values that name nothing
	narrow   func(values []string) Effect // the effect of known values
}

// referencesByOp is [referenceList] by the names of the ops.
var referencesByOp = sync.OnceValue(func() map[string][]referenceRow {
	m := map[string][]referenceRow{}
	for _, row := range referenceList {
		for _, op := range strings.Fields(row.ops) {
			m[op] = append(m[op], referenceRow{row.effect, strings.Fields(row.args), row.harmless, row.narrow})
		}
	}
	return m
})

func isEmpty(v string) bool { return v == "" }

// isStream reports whether PrintV2 writes to a stream of the process or its log,
// as it does for any value without file://.
func isStream(v string) bool { return !strings.HasPrefix(v, "file://") }

// isDescriptor reports whether a descriptor_source is no file.
func isDescriptor(v string) bool {
	return v == "" || v == "local://" || strings.HasPrefix(v, "bytes://")
}

// hasNoAddress reports whether an element of debug_ops_spec has no address.
func hasNoAddress(v string) bool { return !strings.Contains(v, "://") }

// debugEffect returns the effect of sending tensors to these URLs.
func debugEffect(urls []string) (e Effect) {
	for _, u := range urls {
		if strings.HasPrefix(u, "file://") {
			e |= FileWrites
		} else {
			e |= Network
		}
	}
	return e
}
