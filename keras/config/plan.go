package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cairnml/cairn/trackable"
)

// field is a struct field that is part of a config.
type field struct {
	index     []int  // the path of the field, through embedded structs
	name      string // in the JSON
	not       bool   // the JSON has the opposite bool
	single    bool   // the number is rounded to a float32
	omitEmpty bool   // the zero value is left out of the JSON
	def       string // the default, as the tag has it
	hasDef    bool
	constant  string // the value that the key always has; the field is no more than its place
}

// plan lists the config's fields of a struct type, in the order of the JSON.
type plan struct {
	fields []field
	byName map[string]int
	err    error
}

func (p *plan) names() []string {
	names := make([]string, len(p.fields))
	for i, f := range p.fields {
		names[i] = f.name
	}
	return names
}

var (
	plans        sync.Map // reflect.Type → *plan
	typeBase     = reflect.TypeFor[trackable.Base]()
	typeVariable = reflect.TypeFor[*trackable.Variable]()
)

// planOf returns the plan of a struct type, made once for each type. A wrong order, and two fields
// of one name, are the plan's err, which the methods that use it return. An unknown option panics.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{}
	var order []string
	p.add(t, nil, &order)
	if order != nil {
		fields := make([]field, 0, len(order))
		for _, name := range order {
			i := slices.IndexFunc(p.fields, func(f field) bool { return f.name == name })
			if i < 0 {
				p.err = fmt.Errorf("config: %v: the order names %q, which is no field", t, name)
				continue
			}
			fields = append(fields, p.fields[i])
		}
		p.fields = fields
	}
	p.shadow(t)
	p.byName = make(map[string]int, len(p.fields))
	for i, f := range p.fields {
		p.byName[f.name] = i
	}
	got, _ := plans.LoadOrStore(t, p)
	return got.(*plan)
}

// shadow drops the fields of embedded structs that outer ones of the same name hide.
func (p *plan) shadow(t reflect.Type) {
	least := map[string]int{}
	for _, f := range p.fields {
		if n, ok := least[f.name]; !ok || len(f.index) < n {
			least[f.name] = len(f.index)
		}
	}
	seen := map[string]bool{}
	p.fields = slices.DeleteFunc(p.fields, func(f field) bool {
		if len(f.index) > least[f.name] {
			return true
		}
		if seen[f.name] {
			p.err = fmt.Errorf("config: %v has two fields %q", t, f.name)
		}
		seen[f.name] = true
		return false
	})
}

func (p *plan) add(t reflect.Type, prefix []int, order *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("keras")
		if tag == "-" || f.Type == typeBase || f.Type == typeVariable {
			continue
		}
		index := append(slices.Clone(prefix), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if _, list, ok := strings.Cut(tag, "order="); ok {
				*order = strings.Fields(list)
			}
			p.add(f.Type, index, order)
			continue
		}
		if f.IsExported() || f.Name == "_" && strings.Contains(tag, ",const=") {
			p.fields = append(p.fields, parseTag(f, tag, index))
		}
	}
}

func parseTag(f reflect.StructField, tag string, index []int) field {
	out := field{index: index}
	out.name, tag, _ = strings.Cut(tag, ",")
	if out.name == "" {
		out.name = trackable.SnakeCase(f.Name)
	}
	for tag != "" {
		if def, ok := strings.CutPrefix(tag, "default="); ok {
			out.def, out.hasDef = def, true
			break
		}
		if value, ok := strings.CutPrefix(tag, "const="); ok {
			out.constant = value
			break
		}
		var option string
		option, tag, _ = strings.Cut(tag, ",")
		switch option {
		case "not":
			out.not = true
		case "single":
			out.single = true
		case "omitempty":
			out.omitEmpty = true
		default:
			panic(fmt.Sprintf("config: field %s has a tag with the unknown option %q", f.Name, option))
		}
	}
	return out
}
