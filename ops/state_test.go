package ops_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/ops"
)

func TestNamesOfAScopeNameItsNodes(t *testing.T) {
	c := sameTraced(t, vectorIn(1, 2), knowledge["shapes known"], func(s *ops.Scope, in inputs) []*ops.Value {
		net := s.WithName("net")
		a := ops.Exp(net.WithName("dense"), in["x"])
		return values(ops.Add(net, a, ops.Neg(s, in["x"])))
	})
	for _, want := range []string{"net/dense/Exp = ", "net/AddV2 = ", "\tNeg = "} {
		if text := c.String(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
