package metrics

import (
	"fmt"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// overlap counts pairs of true and predicted classes. The intersection over union of a
// class is tp/(tp+fp+fn).
type overlap struct {
	Base
	TotalConfusionMatrix *trackable.Variable `cairn:"-"` // rows are true classes
}

// maxClasses bounds the matrix that a config from a file asks for. The number is Cairn's and may
// grow.
const maxClasses = 1 << 12

func (m *overlap) statesFor(classes int, targets []int) ([]State, error) {
	if classes < 1 || classes > maxClasses {
		return nil, fmt.Errorf("NumClasses is %d, want 1 to %d", classes, maxClasses)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("TargetClassIDs is empty")
	}
	for _, c := range targets {
		if c < 0 || c >= classes {
			return nil, fmt.Errorf("TargetClassIDs has %d, want 0 to %d", c, classes-1)
		}
	}
	return []State{
		{To: &m.TotalConfusionMatrix, Edge: "total_confusion_matrix", Also: "total_cm", Shape: tensor.Shape{classes, classes}},
		{Edge: "target_class_ids", Child: trackable.NewList[*trackable.Variable]()},
	}, nil
}

// form describes the truths and predictions of an overlap.
type form struct {
	classes       int  // their number
	ignore        *int // a true class whose elements don't count; nil for none
	oneHotTruth   bool
	oneHotPredict bool
	axis          *int
}

func (m *overlap) update(s *ops.Scope, self any, f form, truth, predicted, weights ops.Input) {
	if !m.Ready(s, self) {
		return
	}
	flat := func(x ops.Input, oneHot bool) *ops.Value {
		if oneHot {
			x = ops.ArgMax(s, x, or(f.axis, -1))
		}
		// As tf_keras, whose class numbers pass through the metric's type.
		return ops.Cast(s, ops.Reshape(s, samples.CastTo(s, x, m.dtype()), -1), tensor.Int64)
	}
	t, p := flat(truth, f.oneHotTruth), flat(predicted, f.oneHotPredict)
	var w *ops.Value
	if samples.Given(weights) {
		w = ops.Reshape(s, samples.CastTo(s, weights, m.dtype()), -1)
	} else {
		w = ops.Cast(s, ops.OnesLike(s, t), m.dtype())
	}
	if f.ignore != nil {
		valid := ops.NotEqual(s, t, int64(*f.ignore))
		t, p = ops.Where(s, valid, t, ops.ZerosLike(s, t)), ops.Where(s, valid, p, ops.ZerosLike(s, p))
		w = ops.Where(s, valid, w, ops.ZerosLike(s, w))
	}
	if s.Err() != nil {
		return
	}
	pairs := ops.Stack(s, []*ops.Value{t, p}, 1)
	shape := []int64{int64(f.classes), int64(f.classes)}
	ops.AssignAdd(s, m.TotalConfusionMatrix, s.Emit1("ScatterNd", nil, pairs, w, shape)) // fails for other classes
}

// mean returns the mean over the target classes that occur.
func (m *overlap) mean(s *ops.Scope, self any, targets []int) *ops.Value {
	if !m.Ready(s, self) {
		return s.Fail(className(self), errUnmade)
	}
	ids := make([]int32, len(targets))
	for i, c := range targets {
		ids[i] = int32(c)
	}
	tp := ops.DiagPart(s, m.TotalConfusionMatrix)
	union := ops.Sub(s, ops.Add(s, ops.Sum(s, m.TotalConfusionMatrix, 0), ops.Sum(s, m.TotalConfusionMatrix, 1)), tp)
	tp, union = ops.Gather(s, tp, ids), ops.Gather(s, union, ids)
	occur := ops.Sum(s, ops.Cast(s, ops.NotEqual(s, union, 0), m.dtype()))
	return ops.DivNoNan(s, ops.Sum(s, ops.DivNoNan(s, tp, union)), occur)
}

// upTo returns the classes from 0 to n-1, none if n is out of range: statesFor reports that.
func upTo(n int) []int {
	if n < 0 || n > maxClasses {
		n = 0
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// IoU is the intersection over union of truths and predictions, the mean over some classes.
type IoU struct {
	overlap
	// NumClasses is the number of classes.
	NumClasses int
	// TargetClassIDs are the classes of the mean.
	TargetClassIDs []int `keras:"target_class_ids"`
	// IgnoreClass is a true class whose elements count nothing. Default: none.
	IgnoreClass *int
	// OneHotTruth means that the truth has one-hot vectors. Default: class numbers.
	OneHotTruth bool `keras:"sparse_y_true,not"`
	// OneHotPredictions means that the predictions are vectors, whose largest element is
	// the class. Default: class numbers.
	OneHotPredictions bool `keras:"sparse_y_pred,not"`
	// Axis is the axis of these vectors. Default: -1.
	Axis *int `keras:",default=-1"`
}

// States lists the variables.
func (m *IoU) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.NumClasses, m.TargetClassIDs)
}

// Update takes a batch into account.
func (m *IoU) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, form{m.NumClasses, m.IgnoreClass, m.OneHotTruth, m.OneHotPredictions, m.Axis}, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *IoU) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean.
func (m *IoU) Result(s *ops.Scope) *ops.Value { return m.mean(s, m, m.TargetClassIDs) }

// BinaryIoU is [IoU] for a truth of 0 and 1 and predictions of probabilities.
type BinaryIoU struct {
	overlap `keras:",order=target_class_ids threshold name dtype"`
	// TargetClassIDs are the classes of the mean. Default: 0 and 1.
	TargetClassIDs []int `keras:"target_class_ids,default=[0, 1]"`
	// Threshold is the least prediction for class 1. Default: 0.5.
	Threshold *float64 `keras:",default=0.5"`
}

func (m *BinaryIoU) targets() []int {
	if m.TargetClassIDs == nil {
		return []int{0, 1}
	}
	return m.TargetClassIDs
}

// States lists the variables.
func (m *BinaryIoU) States(tensor.Shape) ([]State, error) { return m.statesFor(2, m.targets()) }

// Update takes a batch into account.
func (m *BinaryIoU) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	p := samples.CastTo(s, predicted, m.dtype())
	m.update(s, m, form{classes: 2}, truth, ops.GreaterEqual(s, p, or(m.Threshold, 0.5)), weights)
}

// Reset forgets all updates.
func (m *BinaryIoU) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean.
func (m *BinaryIoU) Result(s *ops.Scope) *ops.Value { return m.mean(s, m, m.targets()) }

// MeanIoU is [IoU] for all classes.
type MeanIoU struct {
	overlap `keras:",order=num_classes name dtype ignore_class sparse_y_true sparse_y_pred axis"`
	// NumClasses is the number of classes.
	NumClasses int
	// IgnoreClass is a true class whose elements count nothing. Default: none.
	IgnoreClass *int
	// OneHotTruth means that the truth has one-hot vectors. Default: class numbers.
	OneHotTruth bool `keras:"sparse_y_true,not"`
	// OneHotPredictions means that the predictions are vectors, whose largest element is
	// the class. Default: class numbers.
	OneHotPredictions bool `keras:"sparse_y_pred,not"`
	// Axis is the axis of these vectors. Default: -1.
	Axis *int `keras:",default=-1"`
}

// States lists the variables.
func (m *MeanIoU) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.NumClasses, upTo(m.NumClasses))
}

// Update takes a batch into account.
func (m *MeanIoU) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, form{m.NumClasses, m.IgnoreClass, m.OneHotTruth, m.OneHotPredictions, m.Axis}, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *MeanIoU) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean.
func (m *MeanIoU) Result(s *ops.Scope) *ops.Value { return m.mean(s, m, upTo(m.NumClasses)) }

// OneHotIoU is [IoU] for a truth of one-hot vectors.
type OneHotIoU struct {
	overlap `keras:",order=num_classes target_class_ids name dtype ignore_class sparse_y_pred axis"`
	// NumClasses is the number of classes.
	NumClasses int
	// TargetClassIDs are the classes of the mean.
	TargetClassIDs []int `keras:"target_class_ids"`
	// IgnoreClass is a true class whose elements count nothing. Default: none.
	IgnoreClass *int
	// SparsePredictions means that the predictions are class numbers. Default: vectors,
	// whose largest element is the class.
	SparsePredictions bool `keras:"sparse_y_pred"`
	// Axis is the axis of the vectors. Default: -1.
	Axis *int `keras:",default=-1"`
}

// States lists the variables.
func (m *OneHotIoU) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.NumClasses, m.TargetClassIDs)
}

// Update takes a batch into account.
func (m *OneHotIoU) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, form{m.NumClasses, m.IgnoreClass, true, !m.SparsePredictions, m.Axis}, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *OneHotIoU) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean.
func (m *OneHotIoU) Result(s *ops.Scope) *ops.Value { return m.mean(s, m, m.TargetClassIDs) }

// OneHotMeanIoU is [OneHotIoU] for all classes.
type OneHotMeanIoU struct {
	overlap `keras:",order=num_classes name dtype ignore_class sparse_y_pred axis"`
	// NumClasses is the number of classes.
	NumClasses int
	// IgnoreClass is a true class whose elements count nothing. Default: none.
	IgnoreClass *int
	// SparsePredictions means that the predictions are class numbers. Default: vectors,
	// whose largest element is the class.
	SparsePredictions bool `keras:"sparse_y_pred"`
	// Axis is the axis of the vectors. Default: -1.
	Axis *int `keras:",default=-1"`
}

// States lists the variables.
func (m *OneHotMeanIoU) States(tensor.Shape) ([]State, error) {
	return m.statesFor(m.NumClasses, upTo(m.NumClasses))
}

// Update takes a batch into account.
func (m *OneHotMeanIoU) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	m.update(s, m, form{m.NumClasses, m.IgnoreClass, true, !m.SparsePredictions, m.Axis}, truth, predicted, weights)
}

// Reset forgets all updates.
func (m *OneHotMeanIoU) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// Result returns the mean.
func (m *OneHotMeanIoU) Result(s *ops.Scope) *ops.Value { return m.mean(s, m, upTo(m.NumClasses)) }
