// Package parse implements the kernels that read texts and serialized messages: Example
// protos, tensors, raw bytes and comma-separated values.
package parse

import "github.com/cairnml/cairn/engine"

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "ParseExample", Prepare: parseExample},
		{Op: "ParseExampleV2", Prepare: parseExampleV2},
		{Op: "ParseSingleExample", Prepare: parseSingleExample},
		{Op: "ParseSequenceExample", Prepare: parseSequence},
		{Op: "ParseSequenceExampleV2", Prepare: parseSequenceV2},
		{Op: "ParseSingleSequenceExample", Prepare: parseSingleSequence},
		{Op: "DecodeJSONExample", Run: decodeJSONExample},
		{Op: "DecodeCompressed", Prepare: decodeCompressed},
		{Op: "DecodeRaw", Prepare: decodeRaw},
		{Op: "DecodePaddedRaw", Prepare: decodePaddedRaw},
		{Op: "DecodeCSV", Prepare: decodeCSV},
		{Op: "DecodeProtoV2", Prepare: decodeProto},
		{Op: "EncodeProto", Prepare: encodeProto},
		{Op: "ParseTensor", Prepare: parseTensor},
		{Op: "SerializeTensor", Run: serializeTensor},
	}
}
