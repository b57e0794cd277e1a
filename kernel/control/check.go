package control

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/summary"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Assert, Abort, Print, PrintV2, CheckNumerics and
// CheckNumericsV2. The texts of failed assertions and checks, and the printed text, are
// TensorFlow's. Other errors are Cairn's. Abort ends the call with an
// error, not the process: that is Cairn's choice.

// assert returns an error with the data inputs if the condition is false. It
// prints at most summarize elements of each.
func assert(n *engine.Node) (func(*engine.Call) error, error) {
	most := n.Attrs.Int("summarize", 3)
	return func(c *engine.Call) error {
		if c.NumIn() == 0 || c.In(0) == nil || c.In(0).DType() != tensor.Bool || c.In(0).Len() != 1 {
			return fmt.Errorf("the condition must be one bool")
		}
		if tensor.Values[bool](c.In(0))[0] {
			return nil
		}
		text, err := summarize(c, most)
		if err != nil {
			return err
		}
		return fmt.Errorf("assertion failed: %s", text)
	}, nil
}

// summarize returns the elements of the data inputs, those from input 1 on, in
// brackets: at most most of each, or all if most is negative. An input without a
// tensor, such as a resource, appears as its type. The form is that of TensorFlow's
// messages.
func summarize(c *engine.Call, most int64) (string, error) {
	parts, size := make([]string, 0, c.NumIn()), 0
	check := func(n int) error { return c.Afford(2 * int64(size+n)) } // the texts are joined
	for i := 1; i < c.NumIn(); i++ {
		if t := c.In(i); t != nil {
			text, err := summary.Of(t, most, check)
			if err != nil {
				return "", err
			}
			parts = append(parts, "["+text+"]")
			size += len(text)
		} else {
			parts = append(parts, "["+c.Input(i).DType().String()+"]")
		}
	}
	return strings.Join(parts, " "), nil
}

func abort(n *engine.Node) (func(*engine.Call) error, error) {
	if n.Attrs.Bool("exit_without_error") {
		return func(*engine.Call) error {
			return fmt.Errorf("ends the program without an error; only the call is ended")
		}, nil
	}
	msg := n.Attrs.String("error_msg", "")
	return func(*engine.Call) error { return fmt.Errorf("aborted: %s", msg) }, nil
}

// printing keeps the lines of goroutines from mixing.
var printing sync.Mutex

func write(w io.Writer, s string) error {
	printing.Lock()
	defer printing.Unlock()
	_, err := io.WriteString(w, s)
	return err
}

// printed counts the prints of a node.
type printed struct {
	mu sync.Mutex
	n  int64
}

// printValues passes input 0 through and prints the data. With first_n it
// prints in that many calls of the node only.
func printValues(n *engine.Node) (func(*engine.Call) error, error) {
	msg, most, first := n.Attrs.String("message", ""), n.Attrs.Int("summarize", 3), n.Attrs.Int("first_n", -1)
	return func(c *engine.Call) error {
		if c.NumIn() == 0 {
			return fmt.Errorf("takes an input")
		}
		c.Pass(0, 0)
		if first >= 0 {
			// The count belongs to the node in its instance, as TensorFlow's
			// does.
			p := c.NodeState(func() any { return new(printed) }).(*printed)
			p.mu.Lock()
			p.n++
			enough := p.n > first
			p.mu.Unlock()
			if enough {
				return nil
			}
		}
		text, err := summarize(c, most)
		if err != nil {
			return err
		}
		return write(c.Log(), msg+strings.ReplaceAll(text, "] [", "][")+"\n")
	}, nil
}

// printString prints one string to stdout, or, for stderr and the three logs, to the log
// of the call. TensorFlow also prints to files; these are refused here.
func printString(n *engine.Node) (func(*engine.Call) error, error) {
	stream, end := n.Attrs.String("output_stream", "stderr"), n.Attrs.String("end", "\n")
	var to func(c *engine.Call) io.Writer
	switch stream {
	case "stdout":
		to = func(*engine.Call) io.Writer { return os.Stdout }
	case "stderr", "log(info)", "log(warning)", "log(error)":
		to = (*engine.Call).Log
	default:
		return nil, fmt.Errorf("can't print to %q; it prints to stdout, stderr and logs", stream)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		s := c.In(0)
		if s.DType() != tensor.String || s.Len() != 1 {
			return fmt.Errorf("takes one string, not %v%v", s.DType(), s.Shape())
		}
		return write(to(c), s.Strings()[0]+end)
	}, nil
}

// checkNumerics returns an error for NaN or infinite values.
func checkNumerics(n *engine.Node) (func(*engine.Call) error, error) {
	msg := n.Attrs.String("message", "")
	signs := n.Op == "CheckNumericsV2"
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		var found odd
		switch t := c.In(0); t.DType() {
		case tensor.Float32:
			for _, x := range tensor.Values[float32](t) {
				found.look(float64(x))
			}
		case tensor.Float64:
			for _, x := range tensor.Values[float64](t) {
				found.look(x)
			}
		case tensor.Float16:
			for _, x := range tensor.Values[tensor.F16](t) {
				found.look(float64(x.Float()))
			}
		case tensor.BFloat16:
			for _, x := range tensor.Values[tensor.BF16](t) {
				found.look(float64(x.Float()))
			}
		default:
			return fmt.Errorf("isn't defined for %v", t.DType())
		}
		if s := found.describe(signs); s != "" {
			return fmt.Errorf("%s : Tensor had %s values", msg, s)
		}
		c.Pass(0, 0)
		return nil
	}, nil
}

// odd are the kinds of values that aren't finite.
type odd struct{ nan, plus, minus bool }

// look notes the kind of x unless x is finite.
func (o *odd) look(x float64) {
	if x-x == 0 {
		return
	}
	switch {
	case x != x:
		o.nan = true
	case math.Signbit(x):
		o.minus = true
	default:
		o.plus = true
	}
}

// describe lists the kinds in the words of TensorFlow's messages; signs
// distinguishes -Inf from +Inf. It is empty if there are none.
func (o odd) describe(signs bool) string {
	var kinds []string
	switch {
	case signs:
		if o.minus {
			kinds = append(kinds, "-Inf")
		}
		if o.plus {
			kinds = append(kinds, "+Inf")
		}
		if o.nan {
			kinds = append(kinds, "NaN")
		}
	default:
		if o.plus || o.minus {
			kinds = append(kinds, "Inf")
		}
		if o.nan {
			kinds = append(kinds, "NaN")
		}
	}
	switch len(kinds) {
	case 0:
		return ""
	case 1, 2:
		return strings.Join(kinds, " and ")
	}
	return strings.Join(kinds[:len(kinds)-1], ", ") + ", and " + kinds[len(kinds)-1]
}
