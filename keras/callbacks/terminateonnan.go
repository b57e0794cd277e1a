package callbacks

import (
	"context"
	"math"
)

// TerminateOnNaN ends the training when the loss of a batch is NaN or infinite. Without a loss in
// the logs it does nothing, as in tf_keras.
type TerminateOnNaN struct{ Base }

// OnTrainBatchEnd looks at the loss.
func (t *TerminateOnNaN) OnTrainBatchEnd(_ context.Context, r *Run, batch int, logs Logs) error {
	if loss, ok := logs["loss"]; ok && (math.IsNaN(loss) || math.IsInf(loss, 0)) {
		r.Printf("Batch %d: Invalid loss, terminating training\n", batch)
		r.StopTraining = true
	}
	return nil
}
