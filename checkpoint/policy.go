package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Saved is the record of one checkpoint in a [Manager].
type Saved struct {
	// Path is the checkpoint's prefix.
	Path string
	// Time is when it was written, as precise as the state file keeps it.
	Time time.Time
	// Step is the training step at the save if ManagerOptions.Step was set,
	// otherwise the number in the name; -1 if neither is known.
	Step int64
	// Metrics are those of SaveOptions; nil if there were none.
	Metrics map[string]float64
}

// A Policy decides which checkpoints are kept in addition to the MaxToKeep
// newest. It is a pure function of the list, so that the same run keeps the same
// files.
type Policy interface {
	// Keep is asked after a save with all managed checkpoints, the oldest
	// first. The result is as long: true keeps that checkpoint for now. A
	// checkpoint that no policy keeps is deleted once it isn't among the newest.
	Keep(list []Saved) []bool
}

// PolicyFunc is a [Policy] of one function.
type PolicyFunc func(list []Saved) []bool

// Keep calls f.
func (f PolicyFunc) Keep(list []Saved) []bool { return f(list) }

// EveryNSteps keeps the first checkpoint at or after step N, the first at or
// after 2N, and so on. Unlike those kept by KeepEvery they stay in the list of
// managed checkpoints.
type EveryNSteps struct {
	N int64 // more than 0
}

// Keep implements [Policy].
func (p EveryNSteps) Keep(list []Saved) []bool {
	keep := make([]bool, len(list))
	seen := map[int64]bool{}
	for i, s := range list {
		if k := s.Step / max(p.N, 1); k > 0 && !seen[k] {
			seen[k], keep[i] = true, true
		}
	}
	return keep
}

func (p EveryNSteps) check() error {
	if p.N <= 0 {
		return fmt.Errorf("EveryNSteps.N is %d, want more than 0", p.N)
	}
	return nil
}

// BestN keeps the N checkpoints with the best value of a metric, which is given
// at each save in SaveOptions.Metrics. Of equal values the newer checkpoint is
// the better one; a checkpoint without the metric, or with NaN, is never kept.
type BestN struct {
	N      int    // how many, more than 0
	Metric string // the key in SaveOptions.Metrics
	Lower  bool   // lower values are better, as a loss's are; default: higher ones
}

// Keep implements [Policy].
func (p BestN) Keep(list []Saved) []bool {
	var have []int
	for i, s := range list {
		if v, ok := s.Metrics[p.Metric]; ok && !math.IsNaN(v) {
			have = append(have, i)
		}
	}
	slices.SortStableFunc(have, func(a, b int) int {
		x, y := list[a].Metrics[p.Metric], list[b].Metrics[p.Metric]
		if p.Lower {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(b, a))
	})
	keep := make([]bool, len(list))
	for _, i := range have[:min(max(p.N, 0), len(have))] {
		keep[i] = true
	}
	return keep
}

func (p BestN) check() error {
	if p.N <= 0 {
		return fmt.Errorf("BestN.N is %d, want more than 0", p.N)
	}
	if p.Metric == "" {
		return errors.New("BestN needs the name of a metric")
	}
	return nil
}

// entry is one managed checkpoint; stamp keeps the state file's float64, whose
// text has to come out again as it was.
type entry struct {
	name    string  // slash-separated prefix in the directory; "" for one outside
	path    string  // as Manager.Checkpoints returns it
	stamp   float64 // when it was written, in seconds since 1970
	step    int64   // -1 if unknown
	metrics map[string]float64
}

// key names the entry in the side file.
func (e entry) key() string {
	if e.name == "" {
		return e.path
	}
	return e.name
}

func (e entry) saved() Saved {
	return Saved{Path: e.path, Time: timeOf(e.stamp), Step: e.step, Metrics: maps.Clone(e.metrics)}
}

func savedList(list []entry) []Saved {
	out := make([]Saved, len(list))
	for i, e := range list {
		out[i] = e.saved()
	}
	return out
}

// retention contains the rules for deleting old checkpoints.
type retention struct {
	max      int           // 0: all
	every    time.Duration // 0: none is preserved
	policies []Policy
}

// verdict is the decision of a sweep.
type verdict struct {
	keep, drop []entry // managed on, and deleted
	last       float64 // the time of the last checkpoint preserved for ever
}

// sweep decides which of list, the oldest first, stay: TensorFlow's
// CheckpointManager._sweep, with the policies asked before it. last is the time
// of the last preserved checkpoint.
func (r retention) sweep(list []entry, last float64) (verdict, error) {
	v := verdict{last: last}
	if r.max == 0 || len(list) <= r.max {
		v.keep = list
		return v, nil
	}
	wanted := make([]bool, len(list))
	if len(r.policies) > 0 {
		saved := savedList(list)
		for _, p := range r.policies {
			keep := p.Keep(slices.Clone(saved))
			if len(keep) != len(list) {
				return verdict{keep: list, last: last}, fmt.Errorf("checkpoint: policy %T returned %d verdicts on %d checkpoints", p, len(keep), len(list))
			}
			for i, k := range keep {
				wanted[i] = wanted[i] || k
			}
		}
	}
	old := len(list) - r.max
	for i, e := range list[:old] {
		switch {
		case wanted[i]:
			v.keep = append(v.keep, e)
		case r.every > 0 && e.stamp-r.every.Seconds() >= v.last:
			v.last = e.stamp // stays on disk, but is no longer listed
		default:
			v.drop = append(v.drop, e)
		}
	}
	v.keep = append(v.keep, list[old:]...)
	return v, nil
}

// secondsOf returns a time as the state file has it.
func secondsOf(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

func timeOf(s float64) time.Time {
	if !(math.Abs(s) < 1<<53) {
		return time.Time{}
	}
	sec, frac := math.Modf(s)
	return time.Unix(int64(sec), int64(frac*1e9))
}
