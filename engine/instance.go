package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Instance is the state of one model that outlives its calls: resources by
// their shared name (variables of TensorFlow 1, tables, queues), and the states
// of single nodes, such as those of their random numbers. Two instances of one
// model share no mutable state. The zero Instance is empty and ready; it is
// safe for use by many goroutines.
type Instance struct {
	mu        sync.Mutex
	resources map[ResourceKey]*resource
	states    States
}

// ResourceKey names a resource of an instance.
type ResourceKey struct {
	Kind      string // kind of resource, such as "table": two kinds of one name are two resources
	Container string
	Name      string
}

type resource struct {
	once  sync.Once
	done  atomic.Bool // value and err are set
	value any
	err   error
}

var process Instance

// ProcessInstance returns the state of ops that run outside of any model.
func ProcessInstance() *Instance { return &process }

// VariableKey returns the key of the variable with this name, which VarHandleOp
// and TensorFlow 1's VariableV2 use. A loader stores the variables of a model
// there by [Instance.Set].
func VariableKey(container, name string) ResourceKey {
	return ResourceKey{Kind: "variable", Container: container, Name: name}
}

// Resource returns the resource called key. The first call makes it by create. An error of create stays: later calls
// return it too, until Set replaces the resource.
func (in *Instance) Resource(key ResourceKey, create func() (any, error)) (any, error) {
	in.mu.Lock()
	r := in.resources[key]
	if r == nil {
		r = new(resource)
		if in.resources == nil {
			in.resources = map[ResourceKey]*resource{}
		}
		in.resources[key] = r
	}
	in.mu.Unlock()
	r.once.Do(func() {
		r.value, r.err = create()
		r.done.Store(true)
	})
	if r.err == nil && r.value == nil {
		return nil, fmt.Errorf("the %s %q could not be made", key.Kind, key.Name)
	}
	return r.value, r.err
}

// Set stores a resource under key and replaces an earlier one.
func (in *Instance) Set(key ResourceKey, value any) {
	r := &resource{value: value}
	r.once.Do(func() {})
	r.done.Store(true)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.resources == nil {
		in.resources = map[ResourceKey]*resource{}
	}
	in.resources[key] = r
}

// Lookup returns the resource called key, and whether there is one. A resource that
// another goroutine is making doesn't exist yet.
func (in *Instance) Lookup(key ResourceKey) (any, bool) {
	in.mu.Lock()
	r := in.resources[key]
	in.mu.Unlock()
	if r == nil || !r.done.Load() {
		return nil, false
	}
	return r.value, r.value != nil
}
