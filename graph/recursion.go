package graph

import "sync"

// recursion finds the functions that call themselves, directly or through
// others. It keeps the result for every function that it reaches, so asking for
// every function of a library takes time in proportion to the library. The zero
// value is ready. It is safe for concurrent use. A function calls those that its nodes refer
// to ([Graph.Callees]). [Effects] asks it.
type recursion struct {
	mu    sync.Mutex
	loops map[*Function]bool
}

// of reports whether f calls itself. The functions that f reaches must not
// change between the first call and the last.
func (r *recursion) of(f *Function) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loops == nil {
		r.loops = map[*Function]bool{}
	}
	if loops, known := r.loops[f]; known {
		return loops
	}
	r.search(f)
	return r.loops[f]
}

// search finds the cycles among the functions that f reaches.
func (r *recursion) search(f *Function) {
	components(f, func(f *Function) []*Function { return f.Graph.Callees() },
		func(f *Function) bool { _, known := r.loops[f]; return known },
		func(list []*Function, self bool) {
			for _, f := range list {
				r.loops[f] = self || len(list) > 1
			}
		})
}

// visit is a function on the chain of calls that the search follows now.
type visit struct {
	f       *Function
	callees []*Function // those that the search has not looked at yet
	number  int
	lowest  int  // the lowest number of a function on the stack that it is known to reach
	self    bool // whether it is one of its own callees
}

// components finds the sets of functions that reach each other, among those that f
// reaches, by Tarjan's algorithm. It calls done for each set after the sets that it
// reaches. self reports that a function of the set names itself. A known function isn't
// entered. Each other one is entered once.
func components(f *Function, callees func(*Function) []*Function, known func(*Function) bool, done func(list []*Function, self bool)) {
	numbers := map[*Function]int{}
	onStack := map[*Function]bool{}
	var stack []*Function
	var way []visit
	enter := func(f *Function) {
		numbers[f] = len(numbers) + 1
		onStack[f] = true
		stack = append(stack, f)
		way = append(way, visit{f: f, callees: callees(f), number: numbers[f], lowest: numbers[f]})
	}
	enter(f)
	for len(way) > 0 {
		v := &way[len(way)-1]
		if len(v.callees) > 0 {
			next := v.callees[0]
			v.callees = v.callees[1:]
			if known(next) {
				continue
			}
			if next == v.f {
				v.self = true
			}
			if n := numbers[next]; n == 0 {
				enter(next)
			} else if onStack[next] {
				v.lowest = min(v.lowest, n)
			}
			continue
		}
		end := *v
		way = way[:len(way)-1]
		if len(way) > 0 {
			above := &way[len(way)-1]
			above.lowest = min(above.lowest, end.lowest)
		}
		if end.lowest < end.number {
			continue
		}
		// All functions from here to the top of the stack reach each other.
		at := len(stack) - 1
		for stack[at] != end.f {
			at--
		}
		for _, f := range stack[at:] {
			onStack[f] = false
		}
		done(stack[at:], end.self)
		stack = stack[:at]
	}
}
