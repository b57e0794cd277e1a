// Package profile records which ops calls run and for how long: a table by op, and
// a trace that Chrome and Perfetto draw.
package profile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairnml/cairn/engine"
)

// The verb run of the command uses this package. The names of fields in JSON must stay:
// they are its output, and the format that Chrome reads.

// maxEvents bounds the trace; the table also counts later events.
const maxEvents = 200_000

// Profile is an [engine.Tracer] that records every op. The zero Profile is ready for
// use. Calls at the same time would mix their times: use one Profile for each.
type Profile struct {
	mu      sync.Mutex
	begin   time.Time
	events  []event
	leftOut int // events beyond maxEvents
	// below[d] is the time of finished ops at depth d whose caller hasn't been reported
	// yet.
	below []time.Duration
	byOp  map[string]*Row
}

type event struct {
	op, node, function, out string
	begin, took             time.Duration
}

// Row is the table's row of an op.
type Row struct {
	Op    string  `json:"op"`
	Count int     `json:"count"`
	Self  float64 `json:"ms"`    // without the functions that it calls
	Share float64 `json:"share"` // of all ops, 0 to 1
}

// Op implements [engine.Tracer].
func (p *Profile) Op(e engine.OpEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byOp == nil {
		p.byOp, p.begin = map[string]*Row{}, e.Begin
	}
	for len(p.below) <= e.Depth+1 {
		p.below = append(p.below, 0)
	}
	self := max(0, e.Took-p.below[e.Depth+1])
	p.below[e.Depth+1] = 0
	p.below[e.Depth] += e.Took
	r := p.byOp[e.Op]
	if r == nil {
		r = &Row{Op: e.Op}
		p.byOp[e.Op] = r
	}
	r.Count++
	r.Self += self.Seconds() * 1e3
	if len(p.events) >= maxEvents {
		p.leftOut++
		return
	}
	var out []string
	for _, v := range e.Out {
		if v.Tensor != nil {
			out = append(out, fmt.Sprintf("%v%v", v.Tensor.DType(), v.Tensor.Shape()))
		}
	}
	p.events = append(p.events, event{e.Op, e.Node, e.Function, strings.Join(out, ", "), e.Begin.Sub(p.begin), e.Took})
}

// Table returns the ops, those first that took longest.
func (p *Profile) Table() []Row {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := []Row{}
	total := 0.0
	for _, r := range p.byOp {
		rows = append(rows, *r)
		total += r.Self
	}
	for i := range rows {
		if total > 0 {
			rows[i].Share = rows[i].Self / total
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), strings.Compare(a.Op, b.Op))
	})
	return rows
}

type chromeEvent struct {
	Name string            `json:"name"`
	Cat  string            `json:"cat"`
	Ph   string            `json:"ph"`
	TS   float64           `json:"ts"`  // µs
	Dur  float64           `json:"dur"` // µs
	PID  int               `json:"pid"`
	TID  int               `json:"tid"`
	Args map[string]string `json:"args"`
}

// WriteTrace writes the ops as a trace in Chrome's JSON format.
func (p *Profile) WriteTrace(w io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]chromeEvent, len(p.events))
	for i, e := range p.events {
		list[i] = chromeEvent{e.op, "op", "X", micros(e.begin), micros(e.took), 1, 1, map[string]string{"node": e.node, "function": e.function, "out": e.out}}
	}
	// An op that calls functions begins before their ops, and was reported after.
	slices.SortStableFunc(list, func(a, b chromeEvent) int { return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur)) })
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Events []chromeEvent `json:"traceEvents"`
		Unit   string        `json:"displayTimeUnit"`
		Left   int           `json:"eventsLeftOut"`
	}{list, "ms", p.leftOut})
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// Latencies are how long calls took, in milliseconds.
type Latencies struct {
	Calls int     `json:"calls"`
	First float64 `json:"first"` // the very first call, which prepares
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Summarize returns the times of calls. P90 is the smallest time that 90 % of the calls don't
// exceed; the other percentiles are alike.
func Summarize(first time.Duration, took []time.Duration) Latencies {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	l := Latencies{Calls: len(took), First: ms(first)}
	if len(took) == 0 {
		return l
	}
	sorted := slices.Sorted(slices.Values(took))
	at := func(percent int) float64 { return ms(sorted[max(0, (len(sorted)*percent+99)/100-1)]) }
	for _, d := range sorted {
		l.Mean += ms(d) / float64(len(sorted))
	}
	l.Min, l.P50, l.P90, l.P99, l.Max = at(0), at(50), at(90), at(99), at(100)
	return l
}

// String returns the latencies in a line.
func (l Latencies) String() string {
	return fmt.Sprintf("%d calls: p50 %.3g ms, p90 %.3g, p99 %.3g, min %.3g, mean %.3g, max %.3g; the first %.3g",
		l.Calls, l.P50, l.P90, l.P99, l.Min, l.Mean, l.Max, l.First)
}
