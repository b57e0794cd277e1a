package layers

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/tensor"
)

// decodeLookup reads the config of a lookup layer, StringLookup or IntegerLookup, into the layer and
// the three variables. A vocabulary that is a string is the path of a file.
func decodeLookup(d *config.Decoder, class string, layer any, fields map[string]any, path *string, noOOV, hasVocabulary *bool) error {
	rest := maps.Clone(fields)
	if p, ok := rest["vocabulary"].(string); ok {
		*path = p
		delete(rest, "vocabulary")
	}
	if v, ok := rest["oov_token"]; ok && v == nil {
		*noOOV = true
	}
	if v, ok := rest["has_input_vocabulary"]; ok {
		*hasVocabulary, ok = v.(bool)
		if !ok {
			return errors.New("has_input_vocabulary: want a bool")
		}
		delete(rest, "has_input_vocabulary")
	}
	return d.Fields(class, layer, rest)
}

// encodeLearned writes the tokens of the table, and their weights, into a config.
func (l *indexLookup[T]) encodeLearned(fields config.Fields) error {
	tokens, err := l.contents()
	if err != nil {
		return err
	}
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "vocabulary":
			f.Value = tokens
		case f.Name == "idf_weights" && l.state.IDF != nil:
			t, err := tensor.Cast(l.state.IDF.Load(), tensor.Float64)
			if err != nil {
				return err
			}
			idf := tensor.Values[float64](t)
			if len(idf) < l.tokenStart()+len(tokens) {
				return fmt.Errorf("there are %d weights for %d tokens", len(idf), l.tokenStart()+len(tokens))
			}
			f.Value = idf[l.tokenStart() : l.tokenStart()+len(tokens)]
		}
	}
	return nil
}

// contents returns the tokens of the table without special ones.
func (l *indexLookup[T]) contents() ([]T, error) {
	if len(*l.tokens) > 0 {
		return *l.tokens, nil
	}
	return nil, errors.New("the tokens of the table aren't known; set Vocabulary")
}

// encodeLookup returns the config of a lookup layer.
func encodeLookup[T token](e *config.Encoder, layer any, index *indexLookup[T], noOOV bool) (config.Fields, error) {
	fields, err := e.Fields(layer)
	if err == nil && e.Learned() && index.vocabulary == nil && index.state.LookupTable != nil {
		return fields, index.encodeLearned(fields)
	}
	path, file := index.path, index.file
	if file != nil && path == "" {
		path = file.String()
	}
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "vocabulary" && path != "":
			f.Value = path
		case f.Name == "oov_token" && noOOV:
			f.Value = nil
		}
	}
	return fields, err
}
