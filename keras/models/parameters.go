package models

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/savedmodel"
)

// parameters are those of a layer's call in Python.
type parameters struct {
	*savedmodel.Parameters
	training, mask bool // whether they are among them
}

// parametersOf returns the parameters of the call of a layer's class: the names and the order of
// the arguments of its method call in tf_keras, without self. tf_keras binds the arguments of saved
// functions by them, so they must stay. A class that isn't listed takes "inputs" alone.
func parametersOf(obj any) parameters {
	names := []string{"inputs"}
	switch obj := obj.(type) {
	case *Generic:
		if saved, modes := obj.parameters(); len(saved) > 0 {
			if names = saved; len(modes) < 2 { // its functions serve one mode, whatever the parameter
				names = slices.DeleteFunc(names, func(n string) bool { return n == "training" })
			}
		}
	case *layers.Dropout, *layers.GaussianDropout, *layers.GaussianNoise, *layers.AlphaDropout, *layers.SpatialDropout1D, *layers.SpatialDropout2D,
		*layers.SpatialDropout3D, *layers.SpectralNormalization:
		names = append(names, "training")
	case *layers.BatchNormalization:
		names = append(names, "training", "mask")
	case *layers.LSTM, *layers.GRU, *layers.SimpleRNN:
		names = append(names, "mask", "training", "initial_state")
	case *layers.RNN, *layers.ConvLSTM1D, *layers.ConvLSTM2D, *layers.ConvLSTM3D:
		names = append(names, "mask", "training", "initial_state", "constants")
	case *layers.Bidirectional:
		names = append(names, "training", "mask", "initial_state", "constants")
	case *layers.TimeDistributed:
		names = append(names, "training", "mask")
	case *layers.Softmax, *layers.GlobalAveragePooling1D, *layers.GroupNormalization:
		names = append(names, "mask")
	case *layers.Lambda:
		names = append(names, "mask", "training")
	case *layers.Attention, *layers.AdditiveAttention:
		names = append(names, "mask", "training", "return_attention_scores", "use_causal_mask")
	case *layers.MultiHeadAttention:
		names = []string{"query", "value", "key", "attention_mask", "return_attention_scores", "training", "use_causal_mask"}
	case *layers.RandomFlip, *layers.RandomRotation, *layers.RandomZoom, *layers.RandomTranslation, *layers.RandomCrop, *layers.RandomContrast,
		*layers.RandomBrightness, *layers.RandomHeight, *layers.RandomWidth:
		names = append(names, "training")
	default:
		_, builtIn := keras.Classes().ClassOf(obj)
		_, full := obj.(base.FullComputer)
		switch {
		case base.IsModel(obj), !builtIn && full:
			names = append(names, "training", "mask")
		case !builtIn: // a program's layer may use the mode
			names = append(names, "training")
		}
	}
	p := parameters{Parameters: &savedmodel.Parameters{Names: names}}
	required := 1
	if names[0] == "query" {
		required = 2
	}
	for _, name := range names[required:] {
		var def any
		switch name {
		case "training":
			p.training, def = true, false
		case "mask":
			p.mask = true
		case "return_attention_scores", "use_causal_mask":
			def = false
		}
		p.Defaults = append(p.Defaults, graph.StaticOf(def))
	}
	return p
}

// call returns the arguments of a trace as Python has them: tensors for the inputs and
// masks, and values for all other parameters.
func (p *parameters) call(layer Model, c *call, given []graph.Fact, masks map[int]int, training bool) *graph.Structure {
	spec := func(i int) *graph.Structure {
		f := given[i]
		f.Shape = f.Shape.Anonymous()
		return graph.TensorOf("", f)
	}
	list := func(from, to int) *graph.Structure {
		if to-from == 1 {
			return spec(from)
		}
		var elems []*graph.Structure
		for i := from; i < to; i++ {
			elems = append(elems, spec(i))
		}
		return graph.ListOf(elems...)
	}
	args := []*graph.Structure{list(0, len(c.inputs))}
	rest := p.Names[1:]
	if p.Names[0] == "query" {
		args, rest = []*graph.Structure{spec(0)}, p.Names[1:]
		for i := 1; i < len(c.inputs); i++ {
			args, rest = append(args, spec(i)), rest[1:]
		}
	}
	for i, name := range rest {
		switch {
		case name == "training":
			args = append(args, graph.StaticOf(training))
		case name == "mask" && len(masks) > 0:
			if len(c.inputs) == 1 {
				args = append(args, spec(masks[0]))
				continue
			}
			var elems []*graph.Structure
			for k := range c.inputs {
				if at, ok := masks[k]; ok {
					elems = append(elems, spec(at))
				} else {
					elems = append(elems, graph.StaticOf(nil))
				}
			}
			args = append(args, graph.ListOf(elems...))
		default:
			args = append(args, p.Defaults[len(p.Defaults)-len(rest)+i])
		}
	}
	return graph.TupleOf(graph.TupleOf(args...), graph.DictOf(nil, nil))
}
