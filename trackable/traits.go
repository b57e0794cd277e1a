package trackable

// VariableTraits are properties of a variable that TensorFlow's files store. Cairn preserves
// them from file to file and doesn't act on them. Programs rarely set them.
type VariableTraits struct {
	// Device is the device on which TensorFlow places the variable. Default: any.
	Device string
	// Synchronization controls when replicas exchange the variable's value: "AUTO",
	// "NONE", "ON_WRITE" or "ON_READ". Default: "AUTO".
	Synchronization string
	// Aggregation controls how values of replicas are combined: "NONE", "SUM",
	// "MEAN" or "ONLY_FIRST_REPLICA". Default: "NONE".
	Aggregation string
	// Saved is the rest of a SavedModel's description of the variable: a
	// *savedmodel.Traits. Default: nothing.
	Saved any
}

// Traits returns the variable's traits; nil for the defaults. They must not be changed.
func (v *Variable) Traits() *VariableTraits {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.traits
}

// SetTraits sets the variable's traits and returns the variable. The caller must not
// change t afterwards.
func (v *Variable) SetTraits(t *VariableTraits) *Variable {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.traits = t
	return v
}
