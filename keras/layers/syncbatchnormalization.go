package layers

import (
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// SyncBatchNormalization is the older class of a [BatchNormalization] with Synchronized, of
// tf_keras.layers.experimental. Its config has the same fields.
type SyncBatchNormalization struct{ BatchNormalization }

// CompleteConfig sets Synchronized.
func (b *SyncBatchNormalization) CompleteConfig() {
	b.Synchronized = true
	b.BatchNormalization.CompleteConfig()
}

// EncodeConfig returns the fields; the axis of a built layer is a list.
func (b *SyncBatchNormalization) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return listAxis(e, b, b.listed, b.Axis)
}

// DecodeConfig reads the fields.
func (b *SyncBatchNormalization) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	_, b.listed = fields["axis"].([]any)
	return d.Fields("SyncBatchNormalization", b, fields)
}

// Call returns the normalized x.
func (b *SyncBatchNormalization) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return b.Run(s, b, x, nil)
}
