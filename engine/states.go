package engine

import "sync"

// States are the states of nodes between calls, such as those of their random
// numbers. A node has one for each path of calls that leads to it, whether the
// calls are inlined or not, as in TensorFlow, which inlines them. The zero
// States is empty and ready; it is safe for use by many goroutines.
//
// Functions with the attribute _noinline and recursive functions are different:
// below one function that is called from outside, all calls of such a function
// share the states of its nodes, whatever the path.
type States struct {
	mu    sync.Mutex
	paths map[pathStep]*path
	nodes map[pathStep]any
}

// path identifies a path of calls by its address. nil is the empty path, that of
// a function called from outside.
type path struct{ _ byte } // a byte, because values of size 0 may share an address

// pathStep is a path made longer by a call, or ended by a node.
type pathStep struct {
	from   *path
	key    any // the Key of a node, an inlined call, or a function that isn't inlined
	branch int // as in scope; 0 for a node
}

// scope is a call of a function that is running or, if states is set, of the function that
// WithStates was called with.
type scope struct {
	from   *scope
	node   *Node   // that calls
	branch int     // the function's index among equal functions of the node
	plan   *Plan   // the called function
	states *States // the states to use, instead of a call
}

// state returns the state of a call's node in a scope. The first call creates
// it. Eager calls have no node and no state. at is the scope of the node's
// function, nil in the outermost plan. root is the function of the outermost plan.
func (in *Instance) state(n *Node, at *scope, root any, create func() any) any {
	if n.Key == nil {
		return create()
	}
	states := &in.states // unless a WithStates is around the call
	for s := at; s != nil; s = s.from {
		if s.states != nil {
			states = s.states
			break
		}
	}
	states.mu.Lock()
	defer states.mu.Unlock()
	key := pathStep{from: states.below(states.path(at, root), n), key: n.Key}
	if s, ok := states.nodes[key]; ok {
		return s
	}
	s := create()
	if states.nodes == nil {
		states.nodes = map[pathStep]any{}
	}
	states.nodes[key] = s
	return s
}

// path returns the path of the calls that run in a scope.
func (st *States) path(s *scope, root any) *path {
	if s == nil || s.outermost() {
		return nil
	}
	if s.plan.whole { // the path is the outermost function and this one
		o := s
		for o.from != nil && !o.outermost() {
			o = o.from
		}
		if o.outermost() {
			root = o.plan.of
		}
		return st.longer(st.longer(nil, root, 0), s.plan.of, 0)
	}
	return st.longer(st.below(st.path(s.from, root), s.node), s.node.Key, s.branch)
}

// outermost reports whether the scope is that of a function that is called from
// outside: by an eager op, whose node has no Key, or by the function that WithStates
// calls.
func (s *scope) outermost() bool {
	return s.states != nil || s.node.Key == nil || s.from != nil && s.from.states != nil
}

// below returns p, made longer by the inlined calls that contain n.
func (st *States) below(p *path, n *Node) *path {
	for _, call := range n.Path {
		p = st.longer(p, call, 0)
	}
	return p
}

// longer returns p, made longer by one call.
func (st *States) longer(p *path, key any, branch int) *path {
	k := pathStep{p, key, branch}
	next := st.paths[k]
	if next == nil {
		if st.paths == nil {
			st.paths = map[pathStep]*path{}
		}
		next = new(path)
		st.paths[k] = next
	}
	return next
}

// NodeState returns the state of the op's node between calls. The first call
// creates it. An eager call has no node, so its state is new each time.
func (c *Call) NodeState(create func() any) any {
	return c.Instance().state(c.node, c.env.scope, c.env.root, create)
}

// WithStates calls f, in which the kernel of c may call functions. The states of
// these functions' nodes are stored in states, and paths begin at these functions.
// An iterator of a dataset has separate States in this way.
func WithStates(c *Call, states *States, f func() error) error {
	around := c.env.scope
	c.env.scope = &scope{from: around, states: states}
	defer func() { c.env.scope = around }()
	return f()
}
