package graph

import (
	"errors"
	"fmt"
	"sort"
)

// A function's body names an output by argument and place in it ("node:argument:0"), a
// GraphDef by number ("node:0"). Reading and writing of functions translate by this file.

// places has the index of the first output of each output argument of a node,
// and at its end the number of outputs.
type places struct {
	starts []int
	byName map[string]int // the arguments' indices; nil up to 16, which are searched
}

// placesOf returns the places of the outputs of a node of the op def with these
// attributes. A number of outputs that an attribute of the surrounding function
// determines is not supported.
func placesOf(def *OpDef, attrs Attrs) (*places, error) {
	p := &places{starts: make([]int, 1, len(def.Outputs)+1)}
	at := 0
	for i := range def.Outputs {
		n, known, err := def.length(&def.Outputs[i], attrs)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fmt.Errorf("the number of outputs follows from the function's attributes: %w", errors.ErrUnsupported)
		}
		at += n
		p.starts = append(p.starts, at)
	}
	if len(def.Outputs) > 16 {
		p.byName = make(map[string]int, len(def.Outputs))
		for i := range def.Outputs {
			p.byName[def.Outputs[i].Name] = i
		}
	}
	return p, nil
}

// named returns the range of the outputs of an argument. ok is false if there is none of
// that name.
func (p *places) named(def *OpDef, name string) (lo, hi int, ok bool) {
	if p.byName != nil {
		if i, ok := p.byName[name]; ok {
			return p.starts[i], p.starts[i+1], true
		}
		return 0, 0, false
	}
	for i := range def.Outputs {
		if def.Outputs[i].Name == name {
			return p.starts[i], p.starts[i+1], true
		}
	}
	return 0, 0, false
}

// argument returns the output argument that output i belongs to, and its place
// in it. ok is false if the node has no output i.
func (p *places) argument(i int) (arg, at int, ok bool) {
	arg = sort.SearchInts(p.starts, i+1) - 1
	if i < 0 || arg >= len(p.starts)-1 {
		return 0, 0, false
	}
	return arg, i - p.starts[arg], true
}

// placeCache keeps the places of the nodes that it was asked about, because each input of
// another node may ask again.
type placeCache map[*Node]*places

func (c *placeCache) of(n *Node, def *OpDef) (*places, error) {
	if p := (*c)[n]; p != nil {
		return p, nil
	}
	p, err := placesOf(def, n.Attrs)
	if err != nil {
		return nil, err
	}
	if *c == nil {
		*c = placeCache{}
	}
	(*c)[n] = p
	return p, nil
}
