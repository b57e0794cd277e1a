package models

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/trackable"
)

// nameLayers sets the automatic names of the layers below obj that have none, in the order of the
// edges, depth first. Save calls it; the layers keep the names, since metadata and functions contain them.
func nameLayers(obj Model) {
	var names base.Names
	seen := map[any]bool{}
	var visit func(obj trackable.Trackable, f func(l base.LayerLike))
	visit = func(obj trackable.Trackable, f func(l base.LayerLike)) {
		if seen[trackable.Identity(obj)] {
			return
		}
		seen[trackable.Identity(obj)] = true
		if l, ok := obj.(base.LayerLike); ok {
			f(l)
		}
		edges, err := trackable.Children(obj)
		if err != nil {
			return // the save reports it
		}
		for _, e := range edges {
			visit(e.Child, f)
		}
	}
	visit(obj, func(l base.LayerLike) {
		if name := l.AsLayer().Name; name != "" {
			names.Reserve(name)
		}
	})
	clear(seen)
	visit(obj, func(l base.LayerLike) {
		if l.AsLayer().Name == "" {
			l.AsLayer().Name = names.Next(l)
		}
	})
}
