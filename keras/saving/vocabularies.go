package saving

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
)

// withVocabularies returns a model's JSON in which layers have the vocabularies that are assets
// of the archive as settings. configOf calls it before layers are made. An asset that no layer
// takes is an error.
func withVocabularies(ctx context.Context, f *kerasfile.File, conf []byte) ([]byte, error) {
	if len(f.Members) == 0 {
		return conf, nil
	}
	d := json.NewDecoder(bytes.NewReader(conf))
	d.UseNumber()
	var model map[string]any
	if err := d.Decode(&model); err != nil {
		return nil, err
	}
	v := vocabularies{ctx: ctx, file: f, members: map[string]kerasfile.Member{}}
	for _, m := range f.Members {
		v.members[m.Name] = m
	}
	if err := v.visit(model, "", 0); err != nil {
		return nil, err
	}
	for _, m := range f.Members {
		if _, left := v.members[m.Name]; left {
			return nil, &kerasfile.UnsupportedError{Name: m.Name, Feature: "assets of other layers than those with a vocabulary"}
		}
	}
	return json.Marshal(model)
}

// vocabularies puts assets into configs.
type vocabularies struct {
	ctx     context.Context
	file    *kerasfile.File
	members map[string]kerasfile.Member // those that no layer has taken
}

// visit puts the assets of a model's layers into their configs. obj is the JSON of a layer, at its
// path in the archive, depth the nesting of models. The names in the path are those of placement.
func (v *vocabularies) visit(obj map[string]any, at string, depth int) error {
	conf, _ := obj["config"].(map[string]any)
	if conf == nil || depth > config.MaxDepth {
		return nil
	}
	class, _ := obj["class_name"].(string)
	switch class {
	case "StringLookup", "IntegerLookup", "TextVectorization":
		return v.set(conf, class, at)
	case "TimeDistributed", "Bidirectional":
		if inner, ok := conf["layer"].(map[string]any); ok {
			return v.visit(inner, path.Join(at, "layer"), depth+1)
		}
	}
	list, _ := conf["layers"].([]any)
	used := map[string]int{}
	for _, item := range list {
		l, ok := item.(map[string]any)
		if !ok {
			continue
		}
		name, _ := l["class_name"].(string)
		name = config.SnakeCase(name)
		n := used[name]
		used[name]++
		if n > 0 {
			name += "_" + strconv.Itoa(n)
		}
		if err := v.visit(l, path.Join(at, "layers", name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// set puts the vocabulary of a layer into its config: a token for each line of the asset. A layer
// without an asset stays as it is. In the mode tf_idf the weights of the tokens follow, from the
// layer's group.
func (v *vocabularies) set(conf map[string]any, class, at string) error {
	name := path.Join("assets", at, "vocabulary.txt")
	m, ok := v.members[name]
	if !ok {
		return nil
	}
	delete(v.members, name)
	delete(v.members, path.Join("assets", at, "_lookup_layer", "vocabulary.txt"))
	r, err := m.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	tokens := make([]any, len(lines))
	for i, line := range lines {
		if tokens[i] = line; class == "IntegerLookup" {
			if _, err := strconv.ParseInt(line, 10, 64); err != nil {
				return fmt.Errorf("%s: line %d is no integer", name, i+1)
			}
			tokens[i] = json.Number(line)
		}
	}
	conf["vocabulary"] = tokens
	if mode, _ := conf["output_mode"].(string); mode != "tf_idf" {
		return nil
	}
	g := v.file.Group(at)
	if g == nil || len(g.Weights) == 0 {
		return fmt.Errorf("%s: the file has no weights of the tokens", name)
	}
	t, err := g.Weights[0].Read(v.ctx)
	if err == nil {
		t, err = tensor.Cast(t, tensor.Float64)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	idf := tensor.Values[float64](t)
	if len(idf) < len(tokens) {
		return fmt.Errorf("%s: there are %d weights for %d tokens", name, len(idf), len(tokens))
	}
	conf["idf_weights"] = idf[:len(tokens)]
	return nil
}
