package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestMetricsAndStepsOutliveTheProgram: whichever of the two there is, the next
// program's policies know it of the checkpoints that are there.
func TestMetricsAndStepsOutliveTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		step    bool
		policy  Policy
		metrics map[string]float64
	}{
		"metrics": {false, BestN{N: 1, Metric: "loss", Lower: true}, map[string]float64{"loss": 3}},
		"steps":   {true, EveryNSteps{1}, nil},
		"both":    {true, EveryNSteps{1}, map[string]float64{"loss": 3}},
	} {
		dir := vfs.MemDir()
		manager := func() *Manager {
			root := &stepRoot{trackable.NewScalar[int64](7)}
			opts := &ManagerOptions{Dir: dir, MaxToKeep: 3, Policies: []Policy{c.policy}}
			if c.step {
				opts.Step = root.Step.Get
			}
			m, err := NewManager(newCheckpoint(t, root, nil), "run", opts)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		m := manager()
		if _, err := m.SaveWith(ctx, &SaveOptions{Metrics: c.metrics}); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = manager()
		saved := m.Saved()
		if len(saved) != 1 {
			t.Fatalf("%s: %+v", name, saved)
		}
		s := saved[0]
		if loss, ok := s.Metrics["loss"]; ok != (c.metrics != nil) || loss != c.metrics["loss"] {
			t.Errorf("%s: metrics %v, want %v", name, s.Metrics, c.metrics)
		}
		if c.step && s.Step != 7 {
			t.Errorf("%s: step %d", name, s.Step)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
