package checkpoint

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func steps(n ...int64) []Saved {
	var out []Saved
	for _, s := range n {
		out = append(out, Saved{Step: s})
	}
	return out
}

func metric(vs ...float64) []Saved {
	var out []Saved
	for _, v := range vs {
		s := Saved{Metrics: map[string]float64{"m": v}}
		if v == -1 {
			s.Metrics = nil
		}
		out = append(out, s)
	}
	return out
}

func TestPolicies(t *testing.T) {
	const o, x = false, true
	for name, c := range map[string]struct {
		p    Policy
		list []Saved
		want []bool
	}{
		"every 10 steps at multiples":    {EveryNSteps{10}, steps(5, 10, 15, 20, 25, 30), []bool{o, x, o, x, o, x}},
		"every 10 steps between":         {EveryNSteps{10}, steps(7, 14, 21, 28, 35, 39), []bool{o, x, x, o, x, o}},
		"every 10 steps, long pauses":    {EveryNSteps{10}, steps(0, 3, 47, 49, 100), []bool{o, o, x, o, x}},
		"every step":                     {EveryNSteps{1}, steps(1, 2, 2, 3), []bool{x, x, o, x}},
		"unknown steps":                  {EveryNSteps{10}, steps(-1, -1), []bool{o, o}},
		"steps: none":                    {EveryNSteps{10}, nil, []bool{}},
		"best two":                       {BestN{N: 2, Metric: "m"}, metric(.5, .9, .1, .7), []bool{o, x, o, x}},
		"lowest two":                     {BestN{N: 2, Metric: "m", Lower: true}, metric(.5, .9, .1, .7), []bool{x, o, x, o}},
		"the newer of equals":            {BestN{N: 1, Metric: "m"}, metric(.5, .5, .1), []bool{o, x, o}},
		"the newer of equals, lower":     {BestN{N: 1, Metric: "m", Lower: true}, metric(.5, .5, .9), []bool{o, x, o}},
		"NaN and nothing are never best": {BestN{N: 3, Metric: "m"}, metric(math.NaN(), -1, math.Inf(-1)), []bool{o, o, x}},
		"another metric":                 {BestN{N: 3, Metric: "n"}, metric(1, 2), []bool{o, o}},
		"a function":                     {PolicyFunc(func(l []Saved) []bool { return make([]bool, len(l)) }), steps(1, 2), []bool{o, o}},
	} {
		if d := cmp.Diff(c.want, c.p.Keep(c.list)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func entries(stamps ...float64) []entry {
	var out []entry
	for i, s := range stamps {
		out = append(out, entry{path: string(rune('a' + i)), stamp: s, step: int64(i + 1)})
	}
	return out
}

func entryPaths(list []entry) string {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(e.path)
	}
	return b.String()
}

func TestSweep(t *testing.T) {
	for name, c := range map[string]struct {
		r          retention
		list       []entry
		last       float64
		keep, drop string
		newLast    float64
	}{
		"all":                    {retention{}, entries(1, 2, 3), 0, "abc", "", 0},
		"few enough":             {retention{max: 3}, entries(1, 2, 3), 0, "abc", "", 0},
		"the newest":             {retention{max: 1}, entries(1, 2, 3), 0, "c", "ab", 0},
		"every 2 s":              {retention{max: 1, every: 2 * time.Second}, entries(1, 2, 3, 4, 5), 0, "e", "ac", 4},
		"every 2 s, long ago":    {retention{max: 1, every: 2 * time.Second}, entries(101, 102, 103, 104), 0, "d", "b", 103},
		"a policy":               {retention{max: 1, policies: []Policy{EveryNSteps{2}}}, entries(1, 2, 3, 4, 5), 0, "bde", "ac", 0},
		"a policy before time":   {retention{max: 1, every: time.Second, policies: []Policy{EveryNSteps{2}}}, entries(10, 20, 20.5, 20.6), 19, "bd", "a", 20.5},
		"two policies":           {retention{max: 1, policies: []Policy{EveryNSteps{2}, EveryNSteps{3}}}, entries(1, 2, 3, 4, 5), 0, "bcde", "a", 0},
		"the newest need no one": {retention{max: 2, policies: []Policy{EveryNSteps{100}}}, entries(1, 2, 3), 0, "bc", "a", 0},
	} {
		v, err := c.r.sweep(c.list, c.last)
		if err != nil || entryPaths(v.keep) != c.keep || entryPaths(v.drop) != c.drop || v.last != c.newLast {
			t.Errorf("%s: keep %q, drop %q, last %v, %v; want %q, %q, %v", name, entryPaths(v.keep), entryPaths(v.drop), v.last, err, c.keep, c.drop, c.newLast)
		}
	}
	if v, err := (retention{max: 1, policies: []Policy{PolicyFunc(func([]Saved) []bool { return nil })}}).sweep(entries(1, 2), 0); err == nil || entryPaths(v.keep) != "ab" {
		t.Errorf("a policy with too few verdicts: keeps %q, %v", entryPaths(v.keep), err)
	}
}

func TestSweepKeepsTheNewestAndLosesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		list := make([]entry, n)
		for i := range list {
			list[i] = entry{path: string(rune('a' + i)), stamp: rapid.Float64Range(0, 100).Draw(t, "stamp"),
				step: rapid.Int64Range(-1, 50).Draw(t, "step"), metrics: map[string]float64{"m": rapid.Float64Range(0, 1).Draw(t, "metric")}}
		}
		r := retention{max: rapid.IntRange(0, 4).Draw(t, "max"), every: time.Duration(rapid.IntRange(0, 30).Draw(t, "every")) * time.Second,
			policies: []Policy{EveryNSteps{rapid.Int64Range(1, 20).Draw(t, "steps")}, BestN{N: rapid.IntRange(1, 3).Draw(t, "best"), Metric: "m"}}}
		v, err := r.sweep(list, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r.max > 0 && len(list) > r.max && !strings.HasSuffix(entryPaths(v.keep), entryPaths(list[n-r.max:])) {
			t.Fatalf("of %s, %s are kept", entryPaths(list), entryPaths(v.keep))
		}
		seen := entryPaths(v.keep) + entryPaths(v.drop)
		for _, c := range seen {
			if strings.Count(seen, string(c)) != 1 {
				t.Fatalf("%c has two verdicts: keep %s drop %s", c, entryPaths(v.keep), entryPaths(v.drop))
			}
		}
		if r.every == 0 && len(seen) != n {
			t.Fatalf("%s became %s", entryPaths(list), seen)
		}
		if !slices.IsSortedFunc(v.keep, func(a, b entry) int { return strings.Compare(a.path, b.path) }) {
			t.Fatalf("out of order: %s", entryPaths(v.keep))
		}
	})
}

func TestTimesOfTheStateFile(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 250_000_000, time.UTC)
	if got := timeOf(secondsOf(at)); !got.Equal(at) {
		t.Errorf("%v became %v", at, got)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
		if got := timeOf(v); !got.IsZero() {
			t.Errorf("%v became %v", v, got)
		}
	}
}
