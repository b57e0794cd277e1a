package savedmodel

import (
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// stripDebugOps replaces the ops that check and print: Assert and PrintV2 by NoOp,
// CheckNumerics and Print by Identity. The value that an op passes on stays its input; the
// new op waits for the other inputs. signature is that of the function whose body the
// nodes are, nil for the main graph.
func stripDebugOps(nodes []*pb.NodeDef, signature *pb.OpDef) {
	arguments := map[string]bool{}
	if signature != nil {
		for _, a := range signature.InputArg {
			arguments[a.Name] = true
		}
	}
	for _, n := range nodes {
		stripDebugOp(n, arguments)
	}
}

// stripDebugOp replaces one op. A function's arguments are there before its nodes run:
// no node waits for them.
func stripDebugOp(n *pb.NodeDef, arguments map[string]bool) {
	keep := 0 // inputs that stay
	switch n.Op {
	case "Assert", "PrintV2":
		n.Op = "NoOp"
	case "CheckNumerics", "Print":
		n.Op, keep = "Identity", 1
	default:
		return
	}
	var inputs []string
	for i, in := range n.Input {
		if i >= keep && !strings.HasPrefix(in, "^") {
			name, _, _ := strings.Cut(in, ":")
			if arguments[name] {
				continue
			}
			in = "^" + name
		}
		if !slices.Contains(inputs, in) || i < keep {
			inputs = append(inputs, in)
		}
	}
	n.Input = inputs
	n.Attr = slices.DeleteFunc(n.Attr, func(a *pb.AttrValueEntry) bool {
		return !strings.HasPrefix(a.Key, "_") && (keep == 0 || a.Key != "T") || a.Key == "_output_shapes" && keep == 0
	})
}
