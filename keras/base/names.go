package base

import (
	"strconv"

	"github.com/cairnml/cairn/keras/config"
)

// Automatic is implemented by layers whose automatic names don't follow from their class.
type Automatic interface {
	// AutomaticName returns the beginning of the names, and the number in the first
	// one: "dense" and 0 for dense, dense_1; "input" and 1 for input_1, input_2.
	AutomaticName() (stem string, first int)
}

func automatic(obj any) (stem string, first int) {
	if a, ok := obj.(Automatic); ok {
		return a.AutomaticName()
	}
	return config.SnakeCase(className(obj)), 0
}

func numbered(stem string, n int) string {
	if n == 0 {
		return stem
	}
	return stem + "_" + strconv.Itoa(n)
}

// AutomaticName returns the name that the first layer of the class of obj has by default.
func AutomaticName(obj any) string { return numbered(automatic(obj)) }

// Names assigns automatic names, each once. The zero value has assigned none. A Graph, a
// sequential model, summaries and saves use one each, so that the numbers of one model don't
// depend on other models.
type Names struct {
	next map[string]int // the next number, by the stem of the names
	used map[string]bool
}

// Reserve keeps a name from being given out: that of a layer which the program named.
func (n *Names) Reserve(name string) {
	if n.used == nil {
		n.used, n.next = map[string]bool{}, map[string]int{}
	}
	n.used[name] = true
}

// Next returns the next automatic name of obj.
func (n *Names) Next(obj any) string {
	stem, i := automatic(obj)
	if next, ok := n.next[stem]; ok {
		i = next
	}
	for n.used[numbered(stem, i)] {
		i++
	}
	name := numbered(stem, i)
	n.Reserve(name)
	n.next[stem] = i + 1
	return name
}
