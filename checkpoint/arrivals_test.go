package checkpoint

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// arrival is an element of a list with a variable and a value. Its delivery can
// be stopped before anything changes and in the middle.
type arrival struct {
	trackable.Base
	V *trackable.Variable
	N *watchedNumber
}

type watchedNumber struct {
	n                 float32
	checking, setting func()
}

func (x *watchedNumber) SerializeToTensors() ([]trackable.Attribute, error) {
	return []trackable.Attribute{{Name: "n", Tensor: tensor.Scalar(x.n)}}, nil
}

func (x *watchedNumber) CheckRestore(map[string]*tensor.Tensor) error {
	if x.checking != nil {
		x.checking()
	}
	return nil
}

func (x *watchedNumber) RestoreFromTensors(m map[string]*tensor.Tensor) error {
	if x.setting != nil {
		x.setting()
	}
	x.n = tensor.Values[float32](m["n"])[0]
	return nil
}

type arrivals struct{ L *trackable.List[*arrival] }

func newArrival(x float32) *arrival { return &arrival{V: variable(x), N: &watchedNumber{n: x}} }

// restoredEmpty restores a list of none from one of one element, 7.
func restoredEmpty(t *testing.T) (*Checkpoint, *arrivals) {
	t.Helper()
	live := &arrivals{new(trackable.List[*arrival])}
	ck := newCheckpoint(t, live, nil)
	restored(t, ck, written(t, &arrivals{trackable.NewList(newArrival(7))}, nil), nil)
	return ck, live
}

// arriving returns once the delivery to an element that another goroutine appends
// to live has come to stop. release lets it go on, and waits for its end.
func arriving(t *testing.T, live *arrivals, stop func(x *watchedNumber, f func())) (release func()) {
	t.Helper()
	return arrivingAs(t, live, newArrival(0), stop)
}

func arrivingAs(t *testing.T, live *arrivals, x *arrival, stop func(x *watchedNumber, f func())) (release func()) {
	t.Helper()
	there, goOn, done := make(chan bool), make(chan bool), make(chan error)
	first := true
	stop(x.N, func() {
		if first {
			first = false
			there <- true
			<-goOn
		}
	})
	go func() { done <- live.L.Append(x) }()
	<-there
	return func() {
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func beforeChange(x *watchedNumber, f func()) { x.checking = f }
func halfWay(x *watchedNumber, f func())      { x.setting = f }

// TestAStepLeavesWhatArrivesAlone: a step that runs while another goroutine appends
// neither refuses the element for want of a value nor takes the delivery over.
func TestAStepLeavesWhatArrivesAlone(t *testing.T) {
	_, live := restoredEmpty(t)
	var release func()
	if err := trackable.Step(ctx, func(context.Context) error {
		release = arriving(t, live, beforeChange)
		return nil
	}); err != nil {
		t.Error(err)
	}
	wantFloats(t, live.L.At(0).V, 0)
	release()
	wantFloats(t, live.L.At(0).V, 7)
	if err := trackable.Step(ctx, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestASaveWaitsForWhatArrives: no checkpoint holds an element that was seen half
// restored.
func TestASaveWaitsForWhatArrives(t *testing.T) {
	for name, stop := range map[string]func(*watchedNumber, func()){"before a change": beforeChange, "half way": halfWay} {
		t.Run(name, func(t *testing.T) {
			ck, live := restoredEmpty(t)
			release := arriving(t, live, stop)
			dir, saved := vfs.MemDir(), make(chan error, 1)
			go func() { saved <- ck.WriteTo(ctx, dir, "ckpt") }()
			select {
			case err := <-saved:
				t.Errorf("saved (%v) before the delivery came to its end", err)
				release()
				return
			case <-time.After(20 * time.Millisecond):
			}
			release()
			if err := <-saved; err != nil {
				t.Fatal(err)
			}
			again := &arrivals{trackable.NewList(newArrival(0))}
			restored(t, newCheckpoint(t, again, nil), dir, nil)
			wantFloats(t, again.L.At(0).V, 7)
			if n := again.L.At(0).N.n; n != 7 {
				t.Errorf("saved number %v, want 7", n)
			}
		})
	}
}

// TestASaveThatWaitsHonoursItsContext too.
func TestASaveThatWaitsHonoursItsContext(t *testing.T) {
	ck, live := restoredEmpty(t)
	release := arriving(t, live, halfWay)
	defer release()
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := ck.WriteTo(short, vfs.MemDir(), "ckpt"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestADeliveryCannotSave checks that a save fails inside a delivery, which
// sees half of it.
func TestADeliveryCannotSave(t *testing.T) {
	ck, live := restoredEmpty(t)
	x := newArrival(0)
	var err error
	x.N.setting = func() { err = ck.WriteTo(ctx, vfs.MemDir(), "ckpt") }
	if e := live.L.Append(x); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, ErrDelivering) {
		t.Errorf("error %v, want ErrDelivering", err)
	}
	if err := ck.WriteTo(ctx, vfs.MemDir(), "ckpt"); err != nil {
		t.Error(err)
	}
}

// TestTheLaterRestoreWinsOverADelivery that is on its way when it comes.
func TestTheLaterRestoreWinsOverADelivery(t *testing.T) {
	ck, live := restoredEmpty(t)
	release := arriving(t, live, beforeChange)
	restored(t, ck, written(t, &arrivals{trackable.NewList(newArrival(9))}, nil), nil)
	release()
	wantFloats(t, live.L.At(0).V, 9)
	if n := live.L.At(0).N.n; n != 9 {
		t.Errorf("number %v, want 9", n)
	}
}

// TestTheLaterRestoreGivesAVariableItsType checks that an earlier delivery in
// progress, which found the variable without a type, doesn't set its own type.
func TestTheLaterRestoreGivesAVariableItsType(t *testing.T) {
	ck, live := restoredEmpty(t)
	late := &arrival{V: new(trackable.Variable), N: new(watchedNumber)}
	release := arrivingAs(t, live, late, beforeChange)
	restored(t, ck, written(t, &arrivals{trackable.NewList(newArrival(9))}, nil), nil)
	wantFloats(t, late.V, 9)
	release()
	wantFloats(t, late.V, 9)
}

// TestAnElementThatComesDuringARestoreIsRestored, whichever of them is first.
func TestAnElementThatComesDuringARestoreIsRestored(t *testing.T) {
	src := written(t, &arrivals{trackable.NewList(newArrival(7), newArrival(7))}, nil)
	live := &arrivals{trackable.NewList(newArrival(0))}
	ck := newCheckpoint(t, live, nil)
	late := newArrival(0)
	live.L.At(0).N.setting = func() { // bound, and the rest is being read
		if err := live.L.Append(late); err != nil {
			t.Error(err)
		}
		wantFloats(t, late.V, 7)
	}
	restored(t, ck, src, nil)
	wantFloats(t, late.V, 7)
	if late.N.n != 7 {
		t.Errorf("number %v, want 7", late.N.n)
	}
}

// TestTheLaterRestoresSlotsAndSaversWin over a delivery on its way too: it had seen
// that there is no slot, and which objects the saver has in charge.
func TestTheLaterRestoresSlotsAndSaversWin(t *testing.T) {
	type charged struct {
		L   *trackable.List[*arrival]
		Opt *optimizer
	}
	files := map[string]float32{}
	savers := new(Savers)
	if err := savers.Register("Test", Saver{Name: "number",
		Matches: func(obj trackable.Trackable) bool { _, ok := obj.(*chargedNumber); return ok },
		Save: func(_ context.Context, call *SaveCall) ([]string, error) {
			for _, x := range Only[*chargedNumber](call.Objects) {
				files[call.Prefix[:1]] = x.n
			}
			return nil, nil
		},
		Restore: func(_ context.Context, call *RestoreCall) error {
			for _, x := range Only[*chargedNumber](call.Objects) {
				x.n = files[call.Prefix[:1]]
			}
			return nil
		}}); err != nil {
		t.Fatal(err)
	}
	o := &Options{Savers: savers}
	dir := vfs.MemDir()
	element := func(x float32) *arrival {
		a := newArrival(x)
		if err := a.Attach("charged", &chargedNumber{n: x}); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, x := range map[string]float32{"old": 7, "new": 9} {
		c := &charged{trackable.NewList(element(x)), momentum(t)}
		c.Opt.slot(t, c.L.At(0).V, "momentum", tensor.Scalar(x))
		if err := newCheckpoint(t, c, o).WriteTo(ctx, dir, name); err != nil {
			t.Fatal(err)
		}
	}

	live := &charged{new(trackable.List[*arrival]), momentum(t)}
	ck := newCheckpoint(t, live, o)
	read := func(name string) {
		if _, err := ck.ReadFS(ctx, dir, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	read("old")
	late := element(0)
	release := arrivingAs(t, &arrivals{live.L}, late, beforeChange)
	read("new")
	slot := live.Opt.Slot(late.V, "momentum")
	release()
	wantFloats(t, late.V, 9)
	wantFloats(t, live.Opt.Slot(late.V, "momentum"), 9)
	if live.Opt.Slot(late.V, "momentum") != slot {
		t.Error("the slot was made a second time")
	}
	for _, e := range late.TrackableNode().Edges() {
		if x, ok := e.Child.(*chargedNumber); ok && x.n != 9 {
			t.Errorf("the saver's object is %v, want 9", x.n)
		}
	}
}

// chargedNumber is an object restored by a registered saver.
type chargedNumber struct {
	trackable.Base
	n float32
}
