package control_test

import (
	"context"
	"testing"
	"time"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/tensor"
)

func TestTimestampIsTheTimeInSeconds(t *testing.T) {
	before := time.Now()
	x, err := function.Eager(context.Background()).Emit1("Timestamp", nil).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	s := tensor.Values[float64](x)[0]
	if low, high := float64(before.UnixMicro())/1e6, float64(time.Now().UnixMicro())/1e6; s < low || s > high || len(x.Shape()) != 0 {
		t.Errorf("%v, not within %v and %v", x, low, high)
	}
}
