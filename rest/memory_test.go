package rest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/tensor"
)

// TestMemoryAndTimeAreInProportionToTheBytes, whatever the request is.
func TestMemoryAndTimeAreInProportionToTheBytes(t *testing.T) {
	const size = 1 << 20
	list := func(open, element, close string) string {
		n := (size - len(open) - len(close)) / (len(element) + 1)
		return open + strings.Repeat(element+",", n) + element + close
	}
	many := make([]Spec, 50)
	for i := range many {
		many[i] = Spec{Name: strings.Repeat("n", i+1), DType: tensor.Int8, Optional: true}
	}
	for name, c := range map[string]struct {
		text  string
		specs []Spec
	}{
		"bytes":            {list(`{"inputs": [`, "1", "]}"), []Spec{spec("x", tensor.Int8)}},
		"complex numbers":  {list(`{"inputs": [`, "[1,2]", "]}"), []Spec{spec("x", tensor.Complex128)}},
		"empty strings":    {list(`{"inputs": [`, `""`, "]}"), []Spec{spec("x", tensor.String)}},
		"escapes":          {list(`{"inputs": [`, `"\n"`, "]}"), []Spec{spec("x", tensor.String)}},
		"base64":           {list(`{"inputs": [`, `{"b64":""}`, "]}"), []Spec{spec("x", tensor.String)}},
		"empty lists":      {list(`{"inputs": [`, "[]", "]}"), []Spec{spec("x", tensor.Float64)}},
		"deep lists":       {list(`{"inputs": [`, strings.Repeat("[", 250)+"1"+strings.Repeat("]", 250), "]}"), []Spec{spec("x", tensor.Int8)}},
		"rows":             {list(`{"instances": [`, `{"n":1}`, "]}"), many},
		"empty rows":       {list(`{"instances": [`, `{}`, "]}"), many},
		"empty examples":   {list(`{"examples": [`, `{}`, "]}"), nil},
		"small examples":   {list(`{"examples": [`, `{"a":1}`, "]}"), nil},
		"a broken end":     {list(`{"inputs": [`, `1`, `]`), nil},
		"an unknown field": {list(`{"what": [`, `1`, `]}`), nil},
		"a long number":    {`{"inputs": ` + strings.Repeat("9", size) + `}`, []Spec{spec("x", tensor.Float64)}},
		"a long fraction":  {`{"inputs": 0.` + strings.Repeat("9", size) + `}`, []Spec{spec("x", tensor.Float32)}},
		"a long name":      {`{"inputs": {"` + strings.Repeat("n", size) + `": 1}}`, many},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		r, err := ParseRequest([]byte(c.text))
		if err == nil && r.Form() == Examples {
			_, _, _ = r.Examples()
			_, err = r.Serialized()
		} else if err == nil {
			_, err = r.Tensors(c.specs)
		}
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 128*size {
			t.Errorf("%s: %d bytes of memory for each byte (%v)", name, used/size, err)
		}
		if took > 5*time.Second {
			t.Errorf("%s: it takes %v", name, took)
		}
		if err != nil && len(err.Error()) > 3000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}
