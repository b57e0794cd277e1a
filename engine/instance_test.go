package engine

import "testing"

// A look-up neither waits for the maker of a resource nor takes its place.
func TestAResourceIsLookedUpWhileItIsMade(t *testing.T) {
	in, key := new(Instance), ResourceKey{Kind: "table", Name: "t"}
	looked := make(chan bool, 1)
	v, err := in.Resource(key, func() (any, error) {
		go func() {
			_, ok := in.Lookup(key)
			looked <- ok
		}()
		if <-looked {
			t.Error("the resource is there before it is made")
		}
		return 1, nil
	})
	if err != nil || v != 1 {
		t.Fatalf("the resource is %v (%v), want 1", v, err)
	}
	if got, ok := in.Lookup(key); !ok || got != 1 {
		t.Fatalf("the resource is %v afterwards, want 1", got)
	}
}
