package graph

import (
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// An OpDefError reports a fault in an op's definition in a file.
type OpDefError struct {
	Op     string // the op's name
	Part   string // `attribute "T"`, `input "x"`, or "" for the whole
	Reason string
}

// Error names op, part and reason.
func (e *OpDefError) Error() string {
	where := fmt.Sprintf("definition of op %q", e.Op)
	if e.Part != "" {
		where += ", " + e.Part
	}
	return where + ": " + e.Reason
}

// opDefFromProto returns the definition of an op in a file, such as in its
// stripped_op_list, or the signature of a function. It keeps references into p.
// A definition that contradicts itself is an [OpDefError].
func opDefFromProto(p *pb.OpDef) (*OpDef, error) {
	d := &OpDef{
		Name:                     p.Name,
		Inputs:                   make([]ArgDef, len(p.InputArg)),
		Outputs:                  make([]ArgDef, len(p.OutputArg)),
		Attrs:                    make([]AttrDef, len(p.Attr)),
		ControlOutputs:           p.ControlOutput,
		Stateful:                 p.IsStateful,
		Commutative:              p.IsCommutative,
		Aggregate:                p.IsAggregate,
		AllowsUninitializedInput: p.AllowsUninitializedInput,
		DistributedCommunication: p.IsDistributedCommunication,
	}
	if p.Deprecation != nil {
		d.Deprecation = &Deprecation{Version: int(p.Deprecation.Version), Reason: p.Deprecation.Explanation, unknown: p.Deprecation.Unknown}
	}
	if p.Summary != "" || p.Description != "" || p.Unknown != nil {
		d.rest = p
	}
	if p.Name == "" {
		return nil, &OpDefError{Reason: "it has no name"}
	}
	attrs := make(map[string]AttrKind, len(p.Attr))
	for i, a := range p.Attr {
		def, err := attrDef(a)
		if err == "" {
			if _, twice := attrs[a.Name]; twice {
				err = "it is defined twice"
			}
		}
		if err != "" {
			return nil, &OpDefError{Op: p.Name, Part: fmt.Sprintf("attribute %q", a.Name), Reason: err}
		}
		attrs[a.Name] = def.Kind
		d.Attrs[i] = def
	}
	seen := make(map[string]bool, len(p.InputArg)+len(p.OutputArg))
	for i, a := range p.InputArg {
		if err := argDef(&d.Inputs[i], a, attrs, seen); err != "" {
			return nil, &OpDefError{Op: p.Name, Part: fmt.Sprintf("input %q", a.Name), Reason: err}
		}
	}
	clear(seen)
	for i, a := range p.OutputArg {
		if err := argDef(&d.Outputs[i], a, attrs, seen); err != "" {
			return nil, &OpDefError{Op: p.Name, Part: fmt.Sprintf("output %q", a.Name), Reason: err}
		}
	}
	return d, nil
}

// argDef fills d from p. It returns the fault of p, or "".
func argDef(d *ArgDef, p *pb.ArgDef, attrs map[string]AttrKind, seen map[string]bool) string {
	*d = ArgDef{
		Name: p.Name, Type: tensor.DType(p.Type), Ref: p.IsRef,
		TypeAttr: p.TypeAttr, NumberAttr: p.NumberAttr, TypeListAttr: p.TypeListAttr,
	}
	if p.Description != "" || p.HandleData != nil || p.ExperimentalFullType != nil || p.Unknown != nil {
		d.rest = p
	}
	if seen[p.Name] {
		return "there are two of this name"
	}
	seen[p.Name] = true
	types := 0
	for _, given := range []bool{d.Type != tensor.Invalid, d.TypeAttr != "", d.TypeListAttr != ""} {
		if given {
			types++
		}
	}
	switch {
	case p.Name == "":
		return "it has no name"
	case types != 1:
		return "it must have either a type, a type_attr or a type_list_attr"
	case d.NumberAttr != "" && d.TypeListAttr != "":
		return "it has both a number_attr and a type_list_attr"
	}
	for _, ref := range []struct {
		name string
		kind AttrKind
	}{{d.TypeAttr, AttrType}, {d.NumberAttr, AttrInt}, {d.TypeListAttr, AttrTypes}} {
		kind, ok := attrs[ref.name]
		switch {
		case ref.name == "":
		case !ok:
			return fmt.Sprintf("it refers to the attribute %q, which there is not", ref.name)
		case kind != ref.kind:
			return fmt.Sprintf("it refers to the attribute %q as %v, which is %v", ref.name, ref.kind, kind)
		}
	}
	return ""
}

// attrDef converts p. It returns the fault of p, or "".
func attrDef(p *pb.AttrDef) (AttrDef, string) {
	kind, ok := ParseAttrKind(p.Type)
	if !ok || kind == AttrPlaceholder {
		return AttrDef{}, fmt.Sprintf("there are no attributes of kind %q", p.Type)
	}
	d := AttrDef{Name: p.Name, Kind: kind, HasMinimum: p.HasMinimum, Minimum: p.Minimum, def: p.DefaultValue}
	kept := p.Description != "" || p.Unknown != nil || !p.HasMinimum && p.Minimum != 0
	if p.Name == "" {
		return d, "it has no name"
	}
	if p.DefaultValue != nil && !holds(p.DefaultValue, kind) {
		return d, fmt.Sprintf("its default is no %v", kind)
	}
	if v := p.AllowedValues; v != nil {
		elem := AttrString
		switch kind.Elem() {
		case AttrType:
			elem = AttrType
		case AttrString:
		default:
			return d, fmt.Sprintf("it lists allowed values, which a %v has not", kind)
		}
		if v.Which != pb.AttrValueList || v.List == nil || !onlyHolds(v.List, elem) {
			return d, fmt.Sprintf("its allowed values are no list(%v)", elem)
		}
		if elem == AttrType {
			d.AllowedTypes = dtypes(v.List.Type)
		} else {
			d.AllowedStrings = stringsOf(v.List.S)
		}
		kept = kept || v.Unknown != nil || v.List.Unknown != nil || len(v.List.Type)+len(v.List.S) == 0
	}
	if kept {
		d.rest = p
	}
	return d, ""
}

// holds reports whether v is of a kind. An empty list is of every list kind.
func holds(v *pb.AttrValue, kind AttrKind) bool {
	if kind.IsList() {
		return v.Which == pb.AttrValueList && onlyHolds(v.List, kind.Elem())
	}
	switch v.Which {
	case pb.AttrValueI:
		return kind == AttrInt
	case pb.AttrValueF:
		return kind == AttrFloat
	case pb.AttrValueB:
		return kind == AttrBool
	case pb.AttrValueS:
		return kind == AttrString
	case pb.AttrValueType:
		return kind == AttrType
	case pb.AttrValueShape:
		return kind == AttrShape
	case pb.AttrValueTensor:
		return kind == AttrTensor
	case pb.AttrValueFunc:
		return kind == AttrFunc
	}
	return false
}

// onlyHolds reports whether a list has elements of no other kind.
func onlyHolds(l *pb.AttrValueListValue, elem AttrKind) bool {
	return l == nil || none(l.I, elem != AttrInt) && none(l.F, elem != AttrFloat) && none(l.B, elem != AttrBool) &&
		none(l.S, elem != AttrString) && none(l.Type, elem != AttrType) && none(l.Shape, elem != AttrShape) &&
		none(l.Tensor, elem != AttrTensor) && none(l.Func, elem != AttrFunc)
}

// none reports whether list is empty, if it must be.
func none[T any](list []T, must bool) bool { return !must || len(list) == 0 }

func dtypes(list []pb.DataType) []tensor.DType {
	out := make([]tensor.DType, len(list))
	for i, t := range list {
		out[i] = tensor.DType(t)
	}
	return out
}

func stringsOf(list [][]byte) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// proto returns the definition as a message, with the parts of the original
// message that this module doesn't use.
func (d *OpDef) proto() *pb.OpDef {
	p := new(pb.OpDef)
	if d.rest != nil {
		p.Summary, p.Description, p.Unknown = d.rest.Summary, d.rest.Description, d.rest.Unknown
	}
	p.Name = d.Name
	p.InputArg, p.OutputArg = argProtos(d.Inputs), argProtos(d.Outputs)
	p.ControlOutput = d.ControlOutputs
	for i := range d.Attrs {
		p.Attr = append(p.Attr, d.Attrs[i].proto())
	}
	if d.Deprecation != nil {
		p.Deprecation = &pb.OpDeprecation{Version: int32(d.Deprecation.Version), Explanation: d.Deprecation.Reason, Unknown: d.Deprecation.unknown}
	}
	p.IsStateful, p.IsCommutative, p.IsAggregate = d.Stateful, d.Commutative, d.Aggregate
	p.AllowsUninitializedInput, p.IsDistributedCommunication = d.AllowsUninitializedInput, d.DistributedCommunication
	return p
}

func argProtos(args []ArgDef) []*pb.ArgDef {
	out := make([]*pb.ArgDef, len(args))
	for i, a := range args {
		p := new(pb.ArgDef)
		if a.rest != nil {
			*p = *a.rest
		}
		p.Name, p.Type, p.IsRef = a.Name, pb.DataType(a.Type), a.Ref
		p.TypeAttr, p.NumberAttr, p.TypeListAttr = a.TypeAttr, a.NumberAttr, a.TypeListAttr
		out[i] = p
	}
	return out
}

func (a *AttrDef) proto() *pb.AttrDef {
	p := new(pb.AttrDef)
	if a.rest != nil {
		*p = *a.rest
	}
	p.Name, p.Type, p.DefaultValue = a.Name, a.Kind.String(), a.def
	if a.HasMinimum {
		p.HasMinimum, p.Minimum = true, a.Minimum
	}
	if a.rest != nil && a.rest.AllowedValues != nil {
		return p
	}
	var allowed pb.AttrValueListValue
	for _, t := range a.AllowedTypes {
		allowed.Type = append(allowed.Type, pb.DataType(t))
	}
	for _, s := range a.AllowedStrings {
		allowed.S = append(allowed.S, []byte(s))
	}
	if len(allowed.Type)+len(allowed.S) > 0 {
		p.AllowedValues = &pb.AttrValue{Which: pb.AttrValueList, List: &allowed}
	}
	return p
}
