package trackable

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/tensor"
)

// SlotOwner is implemented by optimizers: objects that keep variables, the
// slots, for other variables. A slot is saved if both the owner and the
// variable are.
type SlotOwner interface {
	// SlotNames returns the names in the order of files.
	SlotNames() []string
	// Slot returns the slot of v, or nil if there is none.
	Slot(v *Variable, name string) *Variable
	// RestoreSlot creates the slot of v with its value from a checkpoint, which was
	// read before the owner needed it. It is called if Slot is nil.
	RestoreSlot(v *Variable, name string, value *tensor.Tensor) (*Variable, error)
}

// SlotNamer is implemented by owners whose slots can have other full names in
// name-based checkpoints than "<owner>/<variable>/<slot>".
type SlotNamer interface {
	// SlotFullNames returns the full names that a slot of the variable with that
	// full name can have, the likeliest first; none for a slot that is not used.
	SlotFullNames(variable, slot string) []string
}

// NameRestorer is implemented by objects that restore their state from a name-based
// checkpoint that has it under other names than their variables': an optimizer restores
// its step count from another program's.
type NameRestorer interface {
	// NamesFor gets the sorted names of the file's scalars, and returns those from which
	// the object restores its state. If there are any, the object's own variables besides
	// slots needn't be in the file.
	NamesFor(scalars []string) []string
	// RestoreNamed restores the object from their values.
	RestoreNamed(values map[string]*tensor.Tensor) error
}

// Slots keeps an optimizer's slot variables; embedded (or its methods
// forwarded), it makes the optimizer a [SlotOwner]. The zero Slots holds none.
type Slots struct {
	mu    sync.Mutex
	names []string // in the order of files
	slots map[slotKey]*Variable
}

type slotKey struct {
	v    *Variable
	name string
}

// DeclareSlots declares the slots, in the order of files. Names already
// declared keep their position.
func (s *Slots) DeclareSlots(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range names {
		if !slices.Contains(s.names, n) {
			s.names = append(s.names, n)
		}
	}
}

// SlotNames returns the declared names.
func (s *Slots) SlotNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.names)
}

// Slot returns the slot of v, or nil if there is none.
func (s *Slots) Slot(v *Variable, name string) *Variable {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots[slotKey{v, name}]
}

// SlotOr returns the slot of v. If there is none it creates it by init; a nil
// init means zeros like v. The name must be declared.
func (s *Slots) SlotOr(v *Variable, name string, init func() (*tensor.Tensor, error)) (*Variable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot := s.slots[slotKey{v, name}]; slot != nil {
		return slot, nil
	}
	var t *tensor.Tensor
	var err error
	if init != nil {
		t, err = init()
	} else {
		t, err = tensor.Zeros(v.DType(), v.Shape()...)
	}
	if err != nil {
		return nil, fmt.Errorf("trackable: slot %q: %w", name, err)
	}
	return s.put(v, name, t)
}

// RestoreSlot makes the slot of v with a value from a checkpoint. An undeclared
// name is an error.
func (s *Slots) RestoreSlot(v *Variable, name string, value *tensor.Tensor) (*Variable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(v, name, value)
}

// SetSlot makes slot the slot of v. An undeclared name is an error.
func (s *Slots) SetSlot(v *Variable, name string, slot *Variable) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.names, name) {
		return fmt.Errorf("trackable: slot %q isn't declared; there are %q", name, s.names)
	}
	if s.slots == nil {
		s.slots = map[slotKey]*Variable{}
	}
	s.slots[slotKey{v, name}] = slot
	return nil
}

func (s *Slots) put(v *Variable, name string, t *tensor.Tensor) (*Variable, error) {
	if !slices.Contains(s.names, name) {
		return nil, fmt.Errorf("trackable: slot %q isn't declared; there are %q", name, s.names)
	}
	if s.slots == nil {
		s.slots = map[slotKey]*Variable{}
	}
	slot := NewVariable(t).SetTrainable(false)
	s.slots[slotKey{v, name}] = slot
	return slot, nil
}
