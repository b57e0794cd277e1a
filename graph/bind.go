package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
)

// BindError reports attributes or inputs that don't fit an op's definition.
type BindError struct {
	Op     string // the op
	Reason string // the cause
}

// Error returns the reason, under the op's name.
func (e *BindError) Error() string { return e.Op + ": " + e.Reason }

// Bind completes the attributes of a call of the op. It infers attributes that
// follow from the inputs and sets defaults for those that were left out. The
// result is in the order of the definition, followed by the attributes that
// begin with an underscore. The second result has one fact per output with its
// element type. in are the facts of the inputs; only their element types are
// used.
//
// A wrong number or type of inputs returns a *[BindError]. So does an attribute
// of the wrong kind, out of its bounds, or not in the definition. Attributes
// that are placeholders stay unchanged.
func (d *OpDef) Bind(attrs Attrs, in []Fact) (Attrs, []Fact, error) {
	b := binding{def: d, given: attrs, full: make(Attrs, len(d.Attrs))}
	if err := b.takeGiven(); err != nil {
		return nil, nil, err
	}
	if err := b.takeInputs(in); err != nil {
		return nil, nil, err
	}
	if err := b.takeDefaults(in); err != nil {
		return nil, nil, err
	}
	out, err := b.outputs()
	if err != nil {
		return nil, nil, err
	}
	for _, a := range attrs {
		if strings.HasPrefix(a.Name, "_") {
			b.full = append(b.full, a)
		}
	}
	return b.full, out, nil
}

// binding is a call of an op while its attributes are worked out. full has an
// element for each attribute of the definition, of kind AttrNone until it is known.
type binding struct {
	def   *OpDef
	given Attrs
	full  Attrs
}

func (b *binding) fail(format string, args ...any) error {
	return &BindError{b.def.Name, fmt.Sprintf(format, args...)}
}

func (b *binding) index(name string) int {
	return slices.IndexFunc(b.def.Attrs, func(a AttrDef) bool { return a.Name == name })
}

func (b *binding) takeGiven() error {
	for _, a := range b.given {
		i := b.index(a.Name)
		switch {
		case i >= 0 && a.Kind == AttrNone && b.def.Attrs[i].HasDefault():
			// A file may name an attribute without a value.
		case i >= 0 && a.Kind == AttrNone && b.def.Attrs[i].Kind.IsList() && b.def.Attrs[i].Minimum == 0:
			b.full[i] = Ints(a.Name) // an empty list, which shows no kind
		case i >= 0:
			if err := b.def.Attrs[i].check(a); err != "" {
				return b.fail("attribute %s %s", a.Name, err)
			}
			b.full[i] = a
		case !strings.HasPrefix(a.Name, "_"):
			names := make([]string, len(b.def.Attrs))
			for i, d := range b.def.Attrs {
				names[i] = d.Name
			}
			if near := nearest.Names(a.Name, names, 3); len(near) > 0 {
				return b.fail("has no attribute %s; similar names: %v", a.Name, near)
			}
			return b.fail("has no attribute %s; it has %v", a.Name, names)
		}
	}
	return nil
}

// check returns the reason why the attribute can't have a value, or "".
func (a *AttrDef) check(v Attr) string {
	if v.Kind == AttrPlaceholder {
		return ""
	}
	if v.Kind != a.Kind {
		if v.Kind.IsList() && a.Kind.IsList() && v.Len() == 0 {
			return "" // an empty list shows no kind
		}
		return fmt.Sprintf("is a %v, not a %v", a.Kind, v.Kind)
	}
	if a.HasMinimum {
		switch {
		case a.Kind == AttrInt && int64(v.num) < a.Minimum:
			return fmt.Sprintf("is %d, below the minimum %d", int64(v.num), a.Minimum)
		case a.Kind.IsList() && int64(v.Len()) < a.Minimum:
			return fmt.Sprintf("has %d entries, fewer than the minimum %d", v.Len(), a.Minimum)
		}
	}
	switch v.Kind {
	case AttrType:
		return a.allowType(tensor.DType(v.num))
	case AttrTypes:
		for _, t := range v.value.([]tensor.DType) {
			if err := a.allowType(t); err != "" {
				return err
			}
		}
	}
	if a.AllowedStrings != nil {
		all := []string{v.str}
		if v.Kind == AttrStrings {
			all = v.value.([]string)
		}
		for _, s := range all {
			if !slices.Contains(a.AllowedStrings, s) {
				return fmt.Sprintf("is %q, not one of %q", s, a.AllowedStrings)
			}
		}
	}
	return ""
}

func (a *AttrDef) allowType(t tensor.DType) string {
	if !t.Valid() {
		return fmt.Sprintf("is %v, which is no type of elements", t)
	}
	if a.AllowedTypes != nil && !slices.Contains(a.AllowedTypes, t) {
		return fmt.Sprintf("is %v, not one of %v", t, a.AllowedTypes)
	}
	return ""
}

// takeInputs distributes the inputs among the arguments and infers attributes
// from them.
func (b *binding) takeInputs(in []Fact) error {
	rest := in
	for i := range b.def.Inputs {
		arg := &b.def.Inputs[i]
		n, err := b.count(arg, i, len(rest))
		if err != nil {
			return err
		}
		if n > len(rest) {
			return b.fail("takes %s, %d were given", b.arity(), len(in))
		}
		if err := b.takeArg(arg, rest[:n], len(in)-len(rest)); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return b.fail("takes %s, %d were given", b.arity(), len(in))
	}
	return nil
}

// arity describes how many inputs the op takes.
func (b *binding) arity() string {
	n, list := 0, false
	for i := range b.def.Inputs {
		if b.def.Inputs[i].List() {
			list = true
		} else {
			n++
		}
	}
	switch {
	case list && n > 0:
		return fmt.Sprintf("a list and %d more inputs", n)
	case list:
		return "a list of inputs"
	case n == 1:
		return "1 input"
	}
	return fmt.Sprintf("%d inputs", n)
}

// count returns how many of the remaining inputs argument i takes.
func (b *binding) count(arg *ArgDef, i, remaining int) (int, error) {
	switch {
	case arg.NumberAttr != "":
		if a := b.full[b.index(arg.NumberAttr)]; a.Kind == AttrInt {
			if n := int64(a.num); n >= 0 && n <= int64(remaining) {
				return int(n), nil
			}
			return 0, b.fail("attribute %s is %d, but %d inputs are left for %s", arg.NumberAttr, int64(a.num), remaining, arg.Name)
		}
	case arg.TypeListAttr != "":
		if a := b.full[b.index(arg.TypeListAttr)]; a.Kind != AttrNone {
			return a.Len(), nil
		}
	default:
		return 1, nil
	}
	// Without a length, the list takes all inputs that the later arguments
	// leave.
	later := 0
	for j := i + 1; j < len(b.def.Inputs); j++ {
		next := &b.def.Inputs[j]
		switch {
		case !next.List():
			later++
		case next.NumberAttr != "" && next.NumberAttr == arg.NumberAttr:
			// Several lists of one length share the inputs evenly.
			same, single := 1, 0
			for _, o := range b.def.Inputs[i+1:] {
				if o.NumberAttr == arg.NumberAttr {
					same++
				} else {
					single++
				}
			}
			return max(0, (remaining-single)/same), nil
		default:
			if d, ok := b.def.Attr(arg.NumberAttr + arg.TypeListAttr).Default(); ok {
				if arg.NumberAttr != "" {
					return min(int(d.num), remaining), nil
				}
				return min(d.Len(), remaining), nil
			}
			return 0, b.fail("needs attributes with the lengths of its lists of inputs")
		}
	}
	return max(0, remaining-later), nil
}

// takeArg infers attributes from the inputs of one argument, and checks their
// types. first is the index of the first one among all inputs.
func (b *binding) takeArg(arg *ArgDef, in []Fact, first int) error {
	if arg.NumberAttr != "" {
		if err := b.infer(arg.NumberAttr, Int(arg.NumberAttr, int64(len(in)))); err != nil {
			return err
		}
	}
	if arg.TypeListAttr != "" {
		types := make([]tensor.DType, len(in))
		for i, f := range in {
			types[i] = f.DType
		}
		if slices.Contains(types, tensor.Invalid) { // nothing follows from a type that isn't known
			return nil
		}
		return b.infer(arg.TypeListAttr, Types(arg.TypeListAttr, types...))
	}
	for i, f := range in {
		if arg.Ref && !f.Ref && f.DType != tensor.Resource {
			return b.fail("input %d (%s) must be a reference to a variable", first+i, arg.Name)
		}
		switch {
		case f.DType == tensor.Invalid:
		case arg.TypeAttr == "" && f.DType != arg.Type:
			return b.fail("input %d (%s) is %v, not %v", first+i, arg.Name, f.DType, arg.Type)
		case arg.TypeAttr != "":
			at := b.index(arg.TypeAttr)
			if a := b.full[at]; a.Kind == AttrType && tensor.DType(a.num) != f.DType {
				if !b.given.Has(arg.TypeAttr) {
					return b.fail("the inputs' types differ: %v and %v; Cast converts", tensor.DType(a.num), f.DType)
				}
				return b.fail("input %d (%s) is %v, where %s is %v", first+i, arg.Name, f.DType, arg.TypeAttr, tensor.DType(a.num))
			}
			if err := b.infer(arg.TypeAttr, Type(arg.TypeAttr, f.DType)); err != nil {
				return err
			}
		}
	}
	return nil
}

// infer sets an attribute that follows from the inputs.
func (b *binding) infer(name string, v Attr) error {
	i := b.index(name)
	switch have := b.full[i]; {
	case have.Kind == AttrPlaceholder:
	case have.Kind == AttrNone:
		if err := b.def.Attrs[i].check(v); err != "" {
			if v.Kind == AttrType || v.Kind == AttrTypes {
				return b.fail("doesn't take these element types: %s %s", name, err)
			}
			return b.fail("%s %s", name, err)
		}
		b.full[i] = v
	case !have.Equal(v) && !(have.Kind.IsList() && have.Len() == 0 && v.Len() == 0):
		return b.fail("attribute %s is %v, the inputs say %v", name, have.Value(), v.Value())
	}
	return nil
}

// heldType returns the value of a dtype attribute that was left out. It is the
// element type that a handle among the inputs refers to, or that of a constant's
// value.
func (b *binding) heldType(in []Fact) (Attr, bool) {
	if t := b.given.Tensor("value"); t != nil {
		return Type("dtype", t.DType()), true
	}
	for _, f := range in {
		if f.DType == tensor.Resource && len(f.Handle) == 1 && f.Handle[0].DType != tensor.Invalid {
			return Type("dtype", f.Handle[0].DType), true
		}
	}
	return Attr{}, false
}

func (b *binding) takeDefaults(in []Fact) error {
	for i := range b.def.Attrs {
		a := &b.def.Attrs[i]
		if b.full[i].Kind != AttrNone {
			continue
		}
		v, ok := a.Default()
		if !ok && a.Name == "dtype" && a.Kind == AttrType {
			v, ok = b.heldType(in)
		}
		if !ok {
			return b.fail("needs the attribute %s, a %v", a.Name, a.Kind)
		}
		b.full[i] = v
	}
	return nil
}

// outputs returns facts with the outputs' element types.
func (b *binding) outputs() ([]Fact, error) {
	var out []Fact
	for i := range b.def.Outputs {
		arg := &b.def.Outputs[i]
		if arg.TypeListAttr != "" {
			a := b.full[b.index(arg.TypeListAttr)]
			types, _ := a.value.([]tensor.DType)
			for _, t := range types {
				out = append(out, Fact{DType: t})
			}
			continue
		}
		f := Fact{DType: arg.Type, Ref: arg.Ref}
		if arg.TypeAttr != "" {
			f.DType = tensor.DType(b.full[b.index(arg.TypeAttr)].num)
		}
		n := int64(1)
		if arg.NumberAttr != "" {
			if n = int64(b.full[b.index(arg.NumberAttr)].num); n > MaxOutputs {
				return nil, b.fail("attribute %s asks for %d outputs", arg.NumberAttr, n)
			}
		}
		if n > 1 {
			out = slices.Grow(out, int(n))
		}
		for range n {
			out = append(out, f)
		}
	}
	return out, nil
}

// MaxOutputs is the most outputs that an attribute may ask for. A file may contain any number, so there
// is a limit, which is Cairn's.
const MaxOutputs = 1 << 16

// Default returns the default value, and whether there is one. Without one the
// attribute must not be left out.
func (a *AttrDef) Default() (Attr, bool) {
	if a.def == nil {
		return Attr{}, false
	}
	v, err := newReader(nil).attr(a.Name, a.def, a.Kind, 0)
	return v, err == nil
}

// WithDefault returns the definition with v as its default, for definitions of
// a program's ops. A value of another kind, and a function, is an error at
// [OpDef.Bind].
func (a AttrDef) WithDefault(v Attr) AttrDef {
	a.def, _ = new(writer).attr(&v)
	return a
}

// OldHandle returns the name of an argument of TensorFlow 1: a reference, or
// one by which the op makes a handle that is a string. It returns "" if there
// is none.
func (d *OpDef) OldHandle() string {
	for _, args := range [][]ArgDef{d.Inputs, d.Outputs} {
		for i := range args {
			if args[i].Ref {
				return args[i].Name
			}
		}
	}
	if d.Stateful && d.Deprecation != nil && len(d.Outputs) == 1 && d.Outputs[0].Type == tensor.String {
		return d.Outputs[0].Name
	}
	return ""
}

// InputIsRef reports whether input i is a reference to a variable.
func (d *OpDef) InputIsRef(attrs Attrs, i int) bool {
	for j := range d.Inputs {
		arg := &d.Inputs[j]
		n := 1
		switch {
		case arg.NumberAttr != "":
			n = int(attrs.Int(arg.NumberAttr, 0))
		case arg.TypeListAttr != "":
			n = len(attrs.Types(arg.TypeListAttr))
		}
		if i < n {
			return arg.Ref
		}
		i -= n
	}
	return false
}
