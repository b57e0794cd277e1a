package engine

import "sync"

// States are what nodes keep between calls, such as the state of their random
// numbers. A node has one for each path of calls that leads to it, whether the
// calls are inlined or not, as in TensorFlow, which inlines them. The zero States is empty and
// ready; it is safe for use from many goroutines.
//
// Functions that say _noinline have one for all of their calls in a function that
// is called from outside, and so have functions that call themselves.
type States struct {
	mu    sync.Mutex
	paths map[pathStep]*path
	nodes map[pathStep]any
}

// path stands for a path of calls; nil is that of a function called from outside.
type path struct{ _ byte } // each has an address of its own

// pathStep is a path made longer by a call, or ended by a node.
type pathStep struct {
	from   *path
	key    any // of the node; of a function that is not inlined, the function
	branch int // which of the functions that the node names, where it names one twice
}

// scope is a call of a function that is running, or a stretch of ops whose states are
// kept elsewhere.
type scope struct {
	from   *scope
	node   *Node   // that calls
	branch int     // which of the node's functions
	plan   *Plan   // what it calls
	states *States // in place of a call: where states are kept
}

// state returns what the node of a call in a scope keeps, made by the first call.
// Eager calls have no node and keep nothing.
func (in *Instance) state(n *Node, at *scope, root any, create func() any) any {
	if n.Key == nil {
		return create()
	}
	states := &in.states
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
	if s.plan.whole {
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

// outermost reports whether the scope is that of a function which is called from
// outside: by an eager op, or by something that keeps states of its own.
func (s *scope) outermost() bool {
	return s.states != nil || s.node.Key == nil || s.from != nil && s.from.states != nil
}

// below returns the path to a node's function where the node stands in the body of
// inlined calls.
func (st *States) below(p *path, n *Node) *path {
	for _, call := range n.Path {
		p = st.longer(p, call, 0)
	}
	return p
}

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

// NodeState returns what the op's node keeps between calls, made by the first call.
// An eager call has no node and keeps nothing.
func (c *Call) NodeState(create func() any) any {
	return c.Instance().state(c.node, c.env.scope, c.env.root, create)
}

// WithStates calls f, in which the kernel of c may call functions. The states of
// their nodes are stored in states, as those of functions that are called from
// outside.
func WithStates(c *Call, states *States, f func() error) error {
	around := c.env.scope
	c.env.scope = &scope{from: around, states: states}
	defer func() { c.env.scope = around }()
	return f()
}
