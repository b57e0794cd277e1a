package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

var lenientRestore = &RestoreOptions{Partial: true, AllowMissing: true}

// TestAnEarlierRestoreGivesWhatTheLaterLacks has TensorFlow's values: file 1 has f/a, file
// 0, which is restored after it, has not.
func TestAnEarlierRestoreGivesWhatTheLaterLacks(t *testing.T) {
	file := func(base float32, withA bool) *vfs.Mem {
		root, f := new(node), new(node)
		addScalar(t, &root.Base, "a", base)
		addScalar(t, &root.Base, "b", base+1)
		attach(t, root, "f", f)
		addScalar(t, &f.Base, "c", base+2)
		if withA {
			addScalar(t, &f.Base, "a", base+3)
		}
		return written(t, root, nil)
	}
	root := new(node)
	ck := newCheckpoint(t, root, nil)
	restored(t, ck, file(10, true), lenientRestore)
	restored(t, ck, file(20, false), lenientRestore)
	f := new(node)
	attach(t, root, "f", f)
	wantFloats(t, addScalar(t, &f.Base, "a", 0), 13)
	wantFloats(t, addScalar(t, &f.Base, "c", 0), 22)
	wantFloats(t, addScalar(t, &root.Base, "a", 0), 20)
}

// TestAnEarlierRestoreGivesSlotsThatTheLaterLacks has TensorFlow's values. File 0 has
// slots for x and y. File 1 is restored after it, and has one for x.
func TestAnEarlierRestoreGivesSlotsThatTheLaterLacks(t *testing.T) {
	file := func(base float32, both bool) *vfs.Mem {
		root, opt := new(node), momentum(t)
		x, y := addScalar(t, &root.Base, "x", base), addScalar(t, &root.Base, "y", base+1)
		attach(t, root, "opt", opt)
		opt.slot(t, x, "momentum", tensor.Scalar(base+2))
		if both {
			opt.slot(t, y, "momentum", tensor.Scalar(base+3))
		}
		return written(t, root, nil)
	}
	root, opt := new(node), momentum(t)
	ck := newCheckpoint(t, root, nil)
	restored(t, ck, file(10, true), lenientRestore)
	attach(t, root, "opt", opt)
	restored(t, ck, file(20, false), lenientRestore)
	y := addScalar(t, &root.Base, "y", 0)
	x := addScalar(t, &root.Base, "x", 0)
	wantFloats(t, y, 21)
	wantFloats(t, opt.Slot(x, "momentum"), 22)
	wantFloats(t, opt.Slot(y, "momentum"), 13)
}

// TestRestoresThatAreReplacedAreForgotten restores files of the same objects more often
// than restores may be pending.
func TestRestoresThatAreReplacedAreForgotten(t *testing.T) {
	root, opt := new(node), momentum(t)
	x := addScalar(t, &root.Base, "x", 1)
	attach(t, root, "opt", opt)
	opt.slot(t, x, "momentum", tensor.Scalar[float32](2))
	src := written(t, root, nil)
	for _, there := range []string{"", "x", "opt"} {
		root, opt := new(node), momentum(t)
		switch there {
		case "x":
			addScalar(t, &root.Base, "x", 0)
		case "opt":
			attach(t, root, "opt", opt)
		}
		ck := newCheckpoint(t, root, nil)
		for range 2 * maxPendingRestores {
			restored(t, ck, src, lenientRestore)
		}
		if n := len(ck.pendingLoads()); n != 1 {
			t.Errorf("with %q, %d restores are pending", there, n)
		}
	}
}
