package keras

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// AddLoss adds a symbolic scalar that was computed from tensors of the model to the losses
// that are minimized, as tf_keras's model.add_loss. The layers that compute it become
// layers of the model, the last of them an [layers.AddLoss]. After an error the model has the
// layers that it had before.
func (m *Functional) AddLoss(loss *ops.Value) error {
	s := m.Symbolic()
	v := new(layers.AddLoss).Call(s, loss)
	err := s.Err()
	if err == nil {
		err = m.insert([]*ops.Value{v})
	}
	if err != nil {
		return fmt.Errorf("keras: AddLoss: %w", err)
	}
	return nil
}

// insert adds the calls that compute symbolic tensors to those of the model, one after the other,
// as tf_keras's Functional._insert_layers. No output depends on them. AddLoss calls it, and
// networkReader for the AddLoss layers of a config.
//
// New nodes and layers come after all others, inputs of a node before it. The order is that of
// the config and must stay. Their depth is below 0, since outputs have 0; only [Summary] reads
// it, to find branches. After an error the network has the nodes and layers that it had before.
func (n *network) insert(list []*ops.Value) error {
	w := walk{network: n, in: &n.inputs, layerIndex: map[Callable]int{}, state: map[*base.Node]visit{},
		parents: map[*base.Node][]*ops.Value{}, starts: map[graph.Output]bool{}}
	for _, in := range n.inputs.values {
		w.starts[in.Output()] = true
	}
	for i, l := range n.layers {
		w.layerIndex[l] = i
	}
	for _, node := range n.nodes {
		w.state[node] = closed
	}
	before, layersBefore := len(n.nodes), len(n.layers)
	for _, v := range list {
		if err := w.visit(v); err != nil {
			n.nodes = n.nodes[:before]
			return err
		}
	}
	have := make(map[Callable]bool, layersBefore)
	for _, l := range n.layers {
		have[l] = true
	}
	for _, node := range n.nodes[before:] {
		depth := 0
		for _, parent := range w.parents[node] {
			if p, ok := n.graph.PlaceOf(parent); ok {
				depth = min(depth, n.depth[p.Node])
			}
		}
		n.depth[node] = depth - 1
		if !have[node.Layer] {
			have[node.Layer] = true
			n.layers = append(n.layers, node.Layer)
		}
		for _, out := range node.Outputs {
			n.slot[out.Output()] = n.slots
			n.slots++
		}
	}
	if err := w.uniqueNames(); err != nil {
		for _, node := range n.nodes[before:] {
			delete(n.depth, node)
			for _, out := range node.Outputs {
				delete(n.slot, out.Output())
			}
		}
		n.nodes, n.layers = n.nodes[:before], n.layers[:layersBefore]
		return err
	}
	return nil
}
