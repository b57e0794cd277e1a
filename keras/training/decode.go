package training

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cairnml/cairn/keras/config"
)

// DecodeCompile returns the arguments of Compile that a file stores: the JSON of
// training_config in SavedModels and .h5 files, or of compile_config in archives. Names of
// losses and metrics stay names.
func DecodeCompile(classes *config.Classes, text []byte) (*CompileOptions, error) {
	var state struct {
		Loss            json.RawMessage `json:"loss"`
		Metrics         json.RawMessage `json:"metrics"`
		WeightedMetrics json.RawMessage `json:"weighted_metrics"`
		LossWeights     json.RawMessage `json:"loss_weights"`
		OptimizerConfig json.RawMessage `json:"optimizer_config"`
		Optimizer       json.RawMessage `json:"optimizer"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, err
	}
	if state.OptimizerConfig == nil {
		state.OptimizerConfig = state.Optimizer
	}
	o := &CompileOptions{stored: true}
	var err error
	for _, part := range []struct {
		name string
		to   *any
		text json.RawMessage
	}{{"loss", &o.Loss, state.Loss}, {"metrics", &o.Metrics, state.Metrics}, {"weighted_metrics", &o.WeightedMetrics, state.WeightedMetrics},
		{"optimizer", &o.Optimizer, state.OptimizerConfig}} {
		if *part.to, err = compiledFrom(classes, part.text, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if o.LossWeights, err = weightsFrom(state.LossWeights); err != nil {
		return nil, fmt.Errorf("loss_weights: %w", err)
	}
	return o, nil
}

// compiledFrom reads names, objects, lists and maps of them. An object has class_name; another
// one is a map. The limit of the depth is ours.
func compiledFrom(known *config.Classes, text json.RawMessage, depth int) (any, error) {
	text = bytes.TrimSpace(text)
	switch {
	case depth > 8:
		return nil, fmt.Errorf("lists nest deeper than 8")
	case len(text) == 0 || string(text) == "null":
		return nil, nil
	case text[0] == '"':
		var name string
		return name, json.Unmarshal(text, &name)
	case text[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		out := make([]any, len(list))
		for i, item := range list {
			var err error
			if out[i], err = compiledFrom(known, item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if fields["class_name"] != nil {
		return known.Decode(text)
	}
	out := map[string]any{}
	for key, item := range fields {
		var err error
		if out[key], err = compiledFrom(known, item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// weightsFrom reads a list or a map of numbers.
func weightsFrom(text json.RawMessage) (any, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0 || string(text) == "null":
		return nil, nil
	case text[0] == '[':
		var list []float64
		return list, json.Unmarshal(text, &list)
	}
	out := map[string]float64{}
	return out, json.Unmarshal(text, &out)
}
