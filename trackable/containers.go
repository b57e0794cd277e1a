package trackable

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
)

// List is a list of tracked objects: its edges are "0", "1", and so on, as in
// TensorFlow's ListWrapper. An element's values in a checkpoint are restored
// when it is appended. Elements can't be replaced. The zero List is empty and
// ready to use; it must not be copied.
//
// A Go slice in a field is tracked as well; values pending for its elements are
// delivered at the next [Step] or save.
type List[T Trackable] struct {
	node  Node
	mu    sync.RWMutex
	items []T
}

// NewList makes a list of items.
func NewList[T Trackable](items ...T) *List[T] { return &List[T]{items: slices.Clone(items)} }

// TrackableNode returns the list's state in the object graph.
func (l *List[T]) TrackableNode() *Node { return &l.node }

// TellsOfChildren marks that only [List.Append] appends elements, so restores needn't look for new ones.
func (l *List[T]) TellsOfChildren() {}

// TrackableChildren returns the elements, named by their indices.
func (l *List[T]) TrackableChildren() []Edge {
	l.mu.RLock()
	defer l.mu.RUnlock()
	edges := make([]Edge, len(l.items))
	for i, x := range l.items {
		edges[i] = Edge{strconv.Itoa(i), x}
	}
	return edges
}

// AcceptsChild reports whether edge is an index that the list hasn't reached.
func (l *List[T]) AcceptsChild(edge string) bool {
	i, ok := listIndex(edge)
	return ok && i >= l.Len()
}

// Append adds items and restores their pending values. An item that can't be
// tracked, nil included, is an error and ends the call.
func (l *List[T]) Append(items ...T) error {
	for _, x := range items {
		if err := checkTrackable(x); err != nil {
			return fmt.Errorf("trackable: appending to a list: %w", err)
		}
		err := l.node.Add(x, func() (string, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.items = append(l.items, x)
			return strconv.Itoa(len(l.items) - 1), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Len returns the number of elements.
func (l *List[T]) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.items)
}

// At returns element i; it panics outside the list, as a slice does.
func (l *List[T]) At(i int) T {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.items[i]
}

// All yields indices and elements. Elements that are appended during the iteration
// aren't yielded.
func (l *List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		l.mu.RLock()
		items := l.items[:len(l.items):len(l.items)]
		l.mu.RUnlock()
		for i, x := range items {
			if !yield(i, x) {
				return
			}
		}
	}
}

// Map is a map from names to tracked objects that keeps the order of insertion,
// as TensorFlow's dictionaries do. A key's values in a checkpoint are restored
// when it is set. The zero Map is empty and ready to use; it must not be copied.
//
// A Go map in a field is tracked as well, in the order of its sorted keys.
type Map[T Trackable] struct {
	node  Node
	mu    sync.RWMutex
	keys  []string
	items map[string]T
}

// NewMap makes an empty map.
func NewMap[T Trackable]() *Map[T] { return new(Map[T]) }

// TrackableNode returns the map's state in the object graph.
func (m *Map[T]) TrackableNode() *Node { return &m.node }

// TellsOfChildren marks that only [Map.Set] sets values, so restores needn't look for new ones.
func (m *Map[T]) TellsOfChildren() {}

// TrackableChildren returns the values, named by their keys.
func (m *Map[T]) TrackableChildren() []Edge {
	m.mu.RLock()
	defer m.mu.RUnlock()
	edges := make([]Edge, len(m.keys))
	for i, k := range m.keys {
		edges[i] = Edge{k, m.items[k]}
	}
	return edges
}

// AcceptsChild reports whether key isn't set yet.
func (m *Map[T]) AcceptsChild(key string) bool {
	_, ok := m.Get(key)
	return !ok
}

// Set sets the value of key, replacing an earlier one, and restores its pending
// values. A value that can't be tracked, nil included, is an error.
func (m *Map[T]) Set(key string, x T) error {
	if err := checkTrackable(x); err != nil {
		return fmt.Errorf("trackable: setting %q in a map: %w", key, err)
	}
	return m.node.Add(x, func() (string, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if _, ok := m.items[key]; !ok {
			m.keys = append(m.keys, key)
		}
		if m.items == nil {
			m.items = map[string]T{}
		}
		m.items[key] = x
		return key, nil
	})
}

// Get returns the value under key.
func (m *Map[T]) Get(key string) (T, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	x, ok := m.items[key]
	return x, ok
}

// Len returns the number of keys.
func (m *Map[T]) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.keys)
}

// Keys returns the keys in the order of insertion.
func (m *Map[T]) Keys() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.keys)
}

// All yields keys and values in the order of insertion. Keys that are set during the
// iteration aren't yielded. A value is the one that its key has when it is yielded.
func (m *Map[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, k := range m.Keys() {
			if x, ok := m.Get(k); ok && !yield(k, x) {
				return
			}
		}
	}
}

// listIndex parses an edge of a list: a decimal number without leading zeros.
func listIndex(edge string) (int, bool) {
	i, err := strconv.Atoi(edge)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == edge
}
