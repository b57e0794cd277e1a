package data

import (
	"fmt"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
)

// The kernels of MutexV2, MutexLock and ConsumeMutexLock.

// mutex lets one call at a time through.
type mutex struct {
	waiting
	holder any // the call that has it; nil for none
}

// mutexLock is the variant of a mutex that is held until it is consumed, or
// until there are no references to it.
type mutexLock struct{ m atomic.Pointer[mutex] } // nil after the release

// VariantName returns TensorFlow's name of the variant.
func (*mutexLock) VariantName() string { return "(anonymous)::Mutex::SharedLockReleaser" }

// Escape does nothing: a lock holds no values.
func (*mutexLock) Escape() {}

// Free releases the mutex.
func (l *mutexLock) Free(*engine.Arena) { l.unlock() }

func (l *mutexLock) unlock() {
	m := l.m.Swap(nil)
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holder = nil
	m.change()
}

// mutexes returns the kernels of mutexes.
func mutexes() []engine.Kernel {
	create := func(_ graph.Attrs, what string) (*mutex, error) { return &mutex{waiting: waiting{what: what}}, nil }
	return []engine.Kernel{
		{Op: "MutexV2", Prepare: resourceOf("mutex", false, create, nil)},
		{Op: "MutexLock", Run: lockMutex},
		{Op: "ConsumeMutexLock", Run: func(c *engine.Call) error {
			l, err := engine.Object[*mutexLock](c, 0)
			if err == nil {
				l.unlock()
			}
			return err
		}},
	}
}

// mutexCaller is the key of a call's identity in the state of the call.
type mutexCaller struct{}

// lockMutex waits until the mutex is free.
func lockMutex(c *engine.Call) error {
	m, err := engine.Object[*mutex](c, 0)
	if err != nil {
		return err
	}
	me := c.State(mutexCaller{}, func() any { return new(byte) })
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.holder != nil {
		if m.holder == me {
			return fmt.Errorf("the %s is held by this call, which would wait for itself", m.what)
		}
		if err := m.wait(c.Context(), "is held by another call"); err != nil {
			return err
		}
	}
	m.holder = me
	l := new(mutexLock)
	l.m.Store(m)
	c.SetObject(0, l)
	return nil
}
