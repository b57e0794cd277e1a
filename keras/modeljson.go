package keras

import (
	"encoding/json"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
)

// ToJSON returns the JSON of tf_keras's model.to_json(): the class and the config.
func (m *Functional) ToJSON() ([]byte, error) { return modelJSON(m) }

// ToJSON returns the JSON of tf_keras's model.to_json(): the class and the config.
func (m *Sequential) ToJSON() ([]byte, error) { return modelJSON(m) }

// modelJSON writes the JSON of both kinds of models. The version is that of the tf_keras whose
// configs the package writes.
func modelJSON(m base.LayerLike) ([]byte, error) {
	text, err := Config(m, nil)
	if err != nil {
		return nil, err
	}
	var object struct {
		Class  json.RawMessage `json:"class_name"`
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"class_name": %s, "config": %s, "keras_version": "2.21.0", "backend": "tensorflow"}`, object.Class, object.Config), nil
}
