package passes

import "github.com/cairnml/cairn/graph"

// skipIdentities replaces the outputs of Identity and similar ops by their inputs.
func skipIdentities(u *Unit) error {
	replaced := map[graph.Output]graph.Output{}
	for _, n := range u.Function.Graph.Nodes() {
		switch n.Op {
		case "Identity", "StopGradient", "PreventGradient", "Snapshot", "IdentityN":
		default:
			continue
		}
		if !removable(n) || len(n.In) != len(n.Out) {
			continue
		}
		for i, in := range n.In {
			replaced[n.Output(i)] = in
		}
	}
	rewire(u.Function, replaced)
	return nil
}
