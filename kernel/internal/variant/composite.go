package variant

import "github.com/cairnml/cairn/engine"

// Composite is a value of several tensors, such as a ragged or a sparse one. It
// consists of its components.
type Composite struct {
	Metadata   string // an opaque description of its kind
	Components []engine.Value
}

// VariantName returns TensorFlow's name of the variant.
func (*Composite) VariantName() string { return "CompositeTensorVariant" }

// Escape makes the components last beyond the call.
func (x *Composite) Escape() { escape(x.Components) }

// Contents returns the components, for [engine.Value.Keep].
func (x *Composite) Contents() []engine.Value { return x.Components }

// Free releases the components.
func (x *Composite) Free(a *engine.Arena) { free(a, x.Components) }
