package profile

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
)

// TestTimeOfCalledFunctionsCountsOnce checks that an op that calls functions
// counts only the time outside of them.
func TestTimeOfCalledFunctionsCountsOnce(t *testing.T) {
	var p Profile
	at := time.Now()
	op := func(name string, depth int, begin, took time.Duration) {
		p.Op(engine.OpEvent{Op: name, Node: name, Depth: depth, Begin: at.Add(begin), Took: took})
	}
	op("Const", 1, 0, time.Millisecond)
	op("Mul", 2, 2*time.Millisecond, 3*time.Millisecond)
	op("Add", 3, 5*time.Millisecond, 1*time.Millisecond)
	op("If", 2, 5*time.Millisecond, 2*time.Millisecond)
	op("While", 1, 2*time.Millisecond, 6*time.Millisecond)
	op("Mul", 1, 8*time.Millisecond, 1*time.Millisecond)
	want := map[string]float64{"Const": 1, "Mul": 4, "Add": 1, "If": 1, "While": 1}
	total := 0.0
	for i, r := range p.Table() {
		if d := r.Self - want[r.Op]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s took %v ms, want %v", r.Op, r.Self, want[r.Op])
		}
		if i == 0 && r.Op != "Mul" {
			t.Errorf("%s stands first", r.Op)
		}
		total += r.Share
	}
	if total < 0.999 || total > 1.001 {
		t.Errorf("the shares are %v together", total)
	}
	var b bytes.Buffer
	if err := p.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var v struct {
		Events []struct {
			Name, Ph string
			TS, Dur  float64
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &v); err != nil || len(v.Events) != 6 {
		t.Fatal(err, b.String())
	}
	for i, name := range []string{"Const", "While", "Mul", "If", "Add", "Mul"} {
		if v.Events[i].Name != name || v.Events[i].Ph != "X" {
			t.Errorf("event %d is %+v, want %s", i, v.Events[i], name)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(200-i)*time.Millisecond)
	}
	l := Summarize(time.Second, took)
	if l.Calls != 200 || l.Min != 1 || l.P50 != 100 || l.P90 != 180 || l.P99 != 198 || l.Max != 200 || l.First != 1000 || l.Mean < 100.4 || l.Mean > 100.6 {
		t.Errorf("%+v", l)
	}
	if l := Summarize(0, nil); l.Calls != 0 || l.Max != 0 {
		t.Errorf("%+v", l)
	}
}
