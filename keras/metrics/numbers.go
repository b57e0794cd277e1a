package metrics

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cairnml/cairn/keras/config"
)

// encodeArray replaces the numbers of a field by the form in which tf_keras writes an
// array: with its type, or in the legacy form as a list. AUC and MeanRelativeError have such a field;
// key is its name in the JSON.
func encodeArray(e *config.Encoder, m any, key string, numbers []float64, dtype string) (config.Fields, error) {
	f, err := e.Fields(m)
	if err != nil || numbers == nil {
		return f, err
	}
	var value any = numbers
	if !e.Legacy() {
		value = config.Fields{{Name: "class_name", Value: "__numpy__"},
			{Name: "config", Value: config.Fields{{Name: "value", Value: numbers}, {Name: "dtype", Value: dtype}}}}
	}
	for i := range f {
		if f[i].Name == key {
			f[i].Value = value
		}
	}
	return f, nil
}

// decodeArray reads the fields of m, one of which may have the form of an array.
func decodeArray(d *config.Decoder, class string, m any, key string, conf map[string]any) error {
	if o, ok := conf[key].(map[string]any); ok {
		array, ok := o["config"].(map[string]any)
		if o["class_name"] != "__numpy__" || !ok {
			return fmt.Errorf("%s: %w", key, errors.New("got an object, want a list of numbers or an array"))
		}
		conf = maps.Clone(conf)
		conf[key] = array["value"]
	}
	return d.Fields(class, m, conf)
}
