package savedmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// KerasMetadataFile is the file with Keras 2's description of its objects;
// older versions store it in the objects themselves.
const KerasMetadataFile = "keras_metadata.pb"

// KerasObject is Keras 2's description of a layer, a model or a metric.
type KerasObject struct {
	// Object is the object itself.
	Object *Object
	// Path is the way to it as Keras writes it: "root.layer-1"; "" in older files.
	Path string
	// Identifier is the kind of object: "_tf_keras_layer", "_tf_keras_metric".
	Identifier string
	// Class and Name are those of the Python object, "Dense" and "dense_1".
	Class, Name string
	// Metadata is the whole description in the file: JSON as Python writes it.
	Metadata string
}

// KerasNode is an entry of [KerasMetadataFile].
type KerasNode struct {
	// ID is the object's number in the object graph.
	ID int
	// Path is the way to it as Keras writes it: "root.layer-1".
	Path string
	// Identifier is the kind of object: "_tf_keras_layer".
	Identifier string
	// Metadata is the description, JSON.
	Metadata string
}

// MarshalKeras returns the bytes of [KerasMetadataFile] for objects in the order of their
// numbers, as TensorFlow 2.6 and later write it.
func MarshalKeras(nodes []KerasNode) []byte {
	p := &pb.SavedMetadata{}
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, &pb.SavedMetadataSavedObject{NodeId: int32(n.ID), NodePath: n.Path, Identifier: n.Identifier, Metadata: n.Metadata,
			Version: &pb.VersionDef{Producer: 2, MinConsumer: 1}})
	}
	return p.Marshal()
}

// kerasPrefix begins the identifiers of Keras 2's objects.
const kerasPrefix = "_tf_keras_"

// Keras returns Keras 2's descriptions of its objects, in the order of the
// file. There are none if Keras 2 hasn't saved the model.
func (g *MetaGraph) Keras() ([]KerasObject, error) {
	b, most, err := readFile(g.model.fsys, KerasMetadataFile, g.model.opts)
	if errors.Is(err, fs.ErrNotExist) {
		return g.kerasOfObjects(), nil
	}
	if err != nil {
		return nil, err
	}
	var p pb.SavedMetadata
	if err := checkMemory(KerasMetadataFile, &p, b, most); err != nil {
		return nil, err
	}
	if err := p.Unmarshal(b); err != nil {
		return nil, &FormatError{KerasMetadataFile, err}
	}
	var out []KerasObject
	for _, n := range p.Nodes {
		o, err := g.object(n.NodeId)
		if err != nil {
			return nil, &FormatError{KerasMetadataFile, fmt.Errorf("%q: %w", n.NodePath, err)}
		}
		out = append(out, kerasObject(o, n.NodePath, n.Identifier, n.Metadata))
	}
	return out, nil
}

// kerasOfObjects takes the descriptions from the objects themselves.
func (g *MetaGraph) kerasOfObjects() []KerasObject {
	var out []KerasObject
	for _, o := range g.Objects {
		if strings.HasPrefix(o.Identifier, kerasPrefix) && o.Metadata != "" {
			out = append(out, kerasObject(o, "", o.Identifier, o.Metadata))
		}
	}
	return out
}

func kerasObject(o *Object, path, identifier, metadata string) KerasObject {
	k := KerasObject{Object: o, Path: path, Identifier: identifier, Metadata: metadata}
	var m struct {
		Class string `json:"class_name"`
		Name  string `json:"name"`
	}
	// A description that is no JSON leaves the names empty; the text stays.
	if json.Unmarshal([]byte(jsonOf(metadata)), &m) == nil {
		k.Class, k.Name = m.Class, m.Name
	}
	return k
}

// jsonOf returns Python's JSON with null for the numbers that JSON doesn't have:
// NaN, Infinity and -Infinity.
func jsonOf(s string) string {
	if !strings.Contains(s, "NaN") && !strings.Contains(s, "Infinity") {
		return s
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\' && i+1 < len(s):
			b.WriteByte(s[i])
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted:
			for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
				if strings.HasPrefix(s[i:], word) {
					b.WriteString("null")
					i += len(word)
					break
				}
			}
			if i == len(s) {
				return b.String()
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
