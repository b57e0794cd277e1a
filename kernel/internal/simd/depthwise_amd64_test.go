//go:build !noasm

package simd

import (
	"reflect"
	"testing"
)

// TestTheAssemblyKnowsTheStrip compares the offsets that the assembly has with
// those of the fields.
func TestTheAssemblyKnowsTheStrip(t *testing.T) {
	s := reflect.TypeFor[strip]()
	for i := range s.NumField() {
		if f := s.Field(i); f.Offset != uintptr(8*i) {
			t.Errorf("%s lies at %d, the assembly looks for it at %d", f.Name, f.Offset, 8*i)
		}
	}
}
