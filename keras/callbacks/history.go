package callbacks

import "context"

// History keeps the logs of all epochs. Fit returns one.
type History struct {
	Base
	// Epoch has the numbers of the epochs, counted from 0.
	Epoch []int
	// History has, for each name of a log, its values in the order of epochs, those of
	// earlier trainings first. An epoch without the log adds none.
	History map[string][]float64
}

// OnTrainBegin forgets the numbers of the epochs of earlier trainings. Their logs stay, as in
// tf_keras.
func (h *History) OnTrainBegin(context.Context, *Run) error {
	h.Epoch = nil
	return nil
}

// OnEpochEnd appends the logs.
func (h *History) OnEpochEnd(_ context.Context, _ *Run, epoch int, logs Logs) error {
	h.Epoch = append(h.Epoch, epoch)
	if h.History == nil {
		h.History = map[string][]float64{}
	}
	for name, value := range logs {
		h.History[name] = append(h.History[name], value)
	}
	return nil
}
