// Package pb holds TensorFlow's messages as plain structs.
package pb

import "errors"

type TrackableObjectGraph struct {
	Nodes   []*TrackableObject
	Unknown []byte
}

type TrackableObject struct {
	Children            []*ObjectReference
	Attributes          []*SerializedTensor
	SlotVariables       []*SlotVariableReference
	RegisteredSaver     *RegisteredSaver
	HasCheckpointValues *BoolValue
	Unknown             []byte
}

type ObjectReference struct {
	NodeId    int32
	LocalName string
	Unknown   []byte
}

type SerializedTensor struct {
	Name          string
	FullName      string
	CheckpointKey string
	Unknown       []byte
}

type SlotVariableReference struct {
	OriginalVariableNodeId int32
	SlotName               string
	SlotVariableNodeId     int32
	Unknown                []byte
}

type RegisteredSaver struct {
	Name       string
	ObjectName string
	Unknown    []byte
}

type BoolValue struct {
	Value   bool
	Unknown []byte
}

func (m *TrackableObjectGraph) Unmarshal(b []byte) error   { return errors.ErrUnsupported }
func (m *TrackableObjectGraph) AppendTo(dst []byte) []byte { return dst }
func (m *TrackableObjectGraph) Marshal() []byte            { return m.AppendTo(nil) }
