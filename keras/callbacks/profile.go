package callbacks

import (
	"os"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/vfs"
)

// profile notes the ops of some training steps, and writes them as TensorFlow's profiler
// does: an XSpace with a plane for this machine, on which the steps and the ops are events.
type profile struct {
	mu           sync.Mutex
	begin        time.Time
	steps, ops   []byte           // encoded events
	kinds        []byte           // encoded entries of the events' metadata
	kindOf       map[string]int64 // by the name of an event
	events, left int              // ops in the profile, and those after the largest number
	stepBegan    time.Time
}

// maxProfiled is the largest number of ops that a profile has. The limit is ours and may change.
const maxProfiled = 1 << 18

// The numbers of the stats of a step's event. The field numbers in this file are those of
// TensorFlow's xplane.proto; times are picoseconds from the line's beginning, and that in
// nanoseconds since 1970.
const (
	stepNumber = 1
	isRoot     = 2
)

func newProfile() *profile { return &profile{begin: time.Now(), kindOf: map[string]int64{}} }

func message(b []byte, field protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), inner)
}

func varint(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// named returns the encoded entry of a map from a number to a named message.
func named(number int64, name, display string) []byte {
	inner := message(varint(nil, 1, number), 2, []byte(name))
	if display != "" {
		inner = message(inner, 4, []byte(display))
	}
	return message(varint(nil, 1, number), 2, inner)
}

// event returns an encoded event.
func (p *profile) event(name, display string, begin time.Time, took time.Duration, stats ...[]byte) []byte {
	number, ok := p.kindOf[name]
	if !ok {
		number = int64(len(p.kindOf) + 1)
		p.kindOf[name] = number
		p.kinds = message(p.kinds, 4, named(number, name, display))
	}
	b := varint(nil, 1, number)
	b = varint(b, 2, begin.Sub(p.begin).Nanoseconds()*1000)
	b = varint(b, 3, took.Nanoseconds()*1000)
	for _, s := range stats {
		b = message(b, 4, s)
	}
	return b
}

// Op implements [engine.Tracer].
func (p *profile) Op(e engine.OpEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events >= maxProfiled {
		p.left++
		return
	}
	p.events++
	p.ops = message(p.ops, 4, p.event(e.Node+":"+e.Op, e.Op, e.Begin, e.Took))
}

// step notes a step that ends now.
func (p *profile) step(number int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stat := func(kind, v int64) []byte { return varint(varint(nil, 1, kind), 4, v) }
	p.steps = message(p.steps, 4, p.event("train", "", p.stepBegan, time.Since(p.stepBegan), stat(stepNumber, number), stat(isRoot, 1)))
}

// write writes the profile into a directory of logs.
func (p *profile) write(dir vfs.Dir, folder string, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	line := func(number int64, name string, events []byte) []byte {
		b := message(varint(nil, 1, number), 2, []byte(name))
		return append(varint(b, 3, p.begin.UnixNano()), events...)
	}
	plane := message(nil, 2, []byte("/host:CPU"))
	plane = message(plane, 3, line(1, "python", p.steps))
	plane = message(plane, 3, line(2, "tf_Compute/2", p.ops))
	plane = append(plane, p.kinds...)
	plane = message(plane, 5, named(stepNumber, "step_num", ""))
	plane = message(plane, 5, named(isRoot, "_r", ""))
	space := message(message(nil, 1, plane), 4, []byte(host))
	file, err := dir.Create(folder + "/plugins/profile/" + now.Format("2006_01_02_15_04_05") + "/" + host + ".xplane.pb")
	if err != nil {
		return err
	}
	_, err = file.Write(space)
	return closed(file, err)
}
