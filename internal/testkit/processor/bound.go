package processor

import (
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/detector"
)

// Bound reports an error if f takes more of the processor's time than most. Its callers
// give f inputs for which an algorithm that isn't linear takes several times as long.
// Under the race detector the bound is higher, because everything takes longer.
func Bound(t testing.TB, what string, most time.Duration, f func()) {
	t.Helper()
	end := Begin(t, what, most)
	f()
	end()
}

// Begin begins a part of a test. The function that it returns ends the part. It reports an
// error if the part took more of the processor's time than most; see [Bound].
func Begin(t testing.TB, what string, most time.Duration) (end func()) {
	if detector.Racing {
		most *= 20
	}
	start := Time()
	return func() {
		t.Helper()
		if took := Time() - start; took > most {
			t.Errorf("%s took %v of the processor's time, want at most %v", what, took, most)
		}
	}
}
