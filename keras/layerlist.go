package keras

import "fmt"

// ListedLayer is a layer of a model, for lists such as those of the command "cairn show".
type ListedLayer struct {
	// Name and Class are the layer's, as Summary prints them.
	Name, Class string
	// Shape is the shape of the output, as Summary prints it.
	Shape string
	// Sources are the names of the layers that it takes tensors from, one for each tensor of
	// each call of the layer. So a name can occur twice.
	Sources []string
}

// ListLayers describes the layers of a model in the order of Summary. Layers of a subclassed
// model, a struct with layers in its fields, have no sources.
func ListLayers(model Callable) ([]ListedLayer, error) {
	rows, _, err := summaryRows(model)
	if err != nil {
		return nil, fmt.Errorf("keras: ListLayers: %w", err)
	}
	sources := map[string][]string{}
	switch m := model.(type) {
	case *Functional:
		calls := m.calls()
		for _, layer := range m.layers {
			name := nameOf(layer)
			for _, node := range calls[layer] {
				for _, p := range m.sources(node) {
					sources[name] = append(sources[name], nameOf(p.Node.Layer))
				}
			}
		}
	case *Sequential:
		for i := 1; i < len(rows); i++ {
			sources[rows[i].name] = []string{rows[i-1].name}
		}
	}
	out := make([]ListedLayer, len(rows))
	for i, r := range rows {
		out[i] = ListedLayer{Name: r.name, Class: r.class, Shape: r.shape, Sources: sources[r.name]}
	}
	return out, nil
}
