package structure

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// box represents a value.
type box struct{ n int }

type inner struct {
	Y    *box
	Deep map[string]*box
}

type node struct {
	V    *box
	Next *node
}

type object struct{ hidden *box }

type sample struct {
	X        *box
	Inner    inner
	Training bool
	List     []inner
	Pair     [2]*box
	Any      any
	Chain    *node
	Renamed  *box `cairn:"y_2"`
	Object   *object
	Rate     float64
}

func layout[T any](t testing.TB) *Layout {
	t.Helper()
	l, err := Of(reflect.TypeFor[T](), "in", Rules{IsValue: func(t reflect.Type, _ bool) bool { return t == reflect.TypeFor[*box]() }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func some() sample {
	return sample{
		X: &box{1}, Inner: inner{&box{2}, map[string]*box{"b": {4}, "a": {3}}}, Training: true,
		List: []inner{{Y: &box{5}}, {Y: &box{6}, Deep: map[string]*box{"k": {7}}}}, Pair: [2]*box{{8}, {9}},
		Any: []*box{{10}}, Chain: &node{&box{11}, &node{V: &box{12}}}, Renamed: &box{13}, Object: &object{&box{99}}, Rate: 0.5,
	}
}

func visited(t testing.TB, l *Layout, base unsafe.Pointer) (text []string) {
	t.Helper()
	err := l.Each(base, func(at unsafe.Pointer, place Place) error {
		text = append(text, fmt.Sprintf("%d %s %s", (*(**box)(at)).n, place.Name(), place.Path()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestValuesComeInTheOrderOfTheStructure(t *testing.T) {
	s := some()
	got := strings.Join(visited(t, layout[sample](t), unsafe.Pointer(&s)), "\n")
	want := `1 in.X x
2 in.Inner.Y inner/y
3 in.Inner.Deep["a"] inner/deep/a
4 in.Inner.Deep["b"] inner/deep/b
5 in.List[0].Y list/0/y
6 in.List[1].Y list/1/y
7 in.List[1].Deep["k"] list/1/deep/k
8 in.Pair[0] pair/0
9 in.Pair[1] pair/1
10 in.Any[0] any/0
11 in.Chain.V chain/v
12 in.Chain.Next.V chain/next/v
13 in.Renamed y_2`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheDescriptionHasTheValuesInTheSameOrder(t *testing.T) {
	s := some()
	l := layout[sample](t)
	d := l.Describe(unsafe.Pointer(&s), func(at unsafe.Pointer) *graph.Structure {
		return graph.TensorOf("", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf((*(**box)(at)).n)})
	})
	var got []string
	for _, place := range d.Flatten() {
		got = append(got, fmt.Sprintf("%d %s", place.Fact.Shape.Dim(0), place.Path))
	}
	var want []string
	for _, line := range visited(t, l, unsafe.Pointer(&s)) {
		f := strings.Fields(line)
		want = append(want, f[0]+" "+f[2])
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if text := d.String(); !strings.HasPrefix(text, "sample(x: float32[1], inner: inner(y: float32[2], deep: {a: float32[3], b: float32[4]}), training: true, list: [") {
		t.Errorf("the description is %s", text)
	}
}

func TestADetachedCopyIsIndependent(t *testing.T) {
	l := layout[sample](t)
	s := some()
	before := visited(t, l, unsafe.Pointer(&s))
	c := s
	l.Detach(unsafe.Pointer(&c))
	err := l.Update(unsafe.Pointer(&c), func(at unsafe.Pointer, _ Place) error {
		p := (**box)(at)
		*p = &box{(*p).n + 100}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := visited(t, l, unsafe.Pointer(&s)); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the original became %v", after)
	}
	for i, line := range visited(t, l, unsafe.Pointer(&c)) {
		if want := fmt.Sprint(100 + i + 1); !strings.HasPrefix(line, want+" ") {
			t.Errorf("place %d of the copy is %s, want %s", i, line, want)
		}
	}
}

func TestKeysTellApartAllButValues(t *testing.T) {
	l := layout[sample](t)
	key := func(change func(*sample)) string {
		s := some()
		s.Object = theObject
		if change != nil {
			change(&s)
		}
		k, err := l.AppendKey(nil, unsafe.Pointer(&s))
		if err != nil {
			t.Fatal(err)
		}
		return string(k)
	}
	same := key(nil)
	if key(nil) != same || key(func(s *sample) { s.X, s.Chain.Next.V = &box{77}, &box{78} }) != same {
		t.Error("equal static parts have different keys")
	}
	for name, change := range map[string]func(*sample){
		"bool":     func(s *sample) { s.Training = false },
		"float":    func(s *sample) { s.Rate = 0.25 },
		"length":   func(s *sample) { s.List = s.List[:1] },
		"map key":  func(s *sample) { s.Inner.Deep = map[string]*box{"b": {4}, "c": {3}} },
		"nil":      func(s *sample) { s.Chain.Next = nil },
		"dynamic":  func(s *sample) { s.Any = []*box{{1}, {2}} },
		"static":   func(s *sample) { s.Any = 5 },
		"type":     func(s *sample) { s.Any = int8(5) },
		"identity": func(s *sample) { s.Object = &object{} },
	} {
		if key(change) == same {
			t.Errorf("%s: the key is the same", name)
		}
	}
	if key(func(s *sample) { s.Any = 5 }) == key(func(s *sample) { s.Any = int8(5) }) {
		t.Error("values of two types have one key")
	}
}

var theObject = &object{}

func TestFuncsAreNoStaticArguments(t *testing.T) {
	type with struct {
		X *box
		F func()
	}
	l := layout[with](t)
	if _, err := l.AppendKey(nil, unsafe.Pointer(&with{})); err != nil {
		t.Errorf("nil: %v", err)
	}
	if _, err := l.AppendKey(nil, unsafe.Pointer(&with{F: func() {}})); err == nil || !strings.Contains(err.Error(), "in.F") {
		t.Errorf("a func: %v", err)
	}
}

func TestCyclesAndHiddenValuesAreErrors(t *testing.T) {
	n := &node{V: &box{1}}
	n.Next = n
	l := layout[*node](t)
	if err := l.Each(unsafe.Pointer(&n), func(unsafe.Pointer, Place) error { return nil }); err == nil || !strings.Contains(err.Error(), "lead to itself") {
		t.Errorf("a cycle: %v", err)
	}
	if _, err := l.AppendKey(nil, unsafe.Pointer(&n)); err == nil {
		t.Error("a cycle has a key")
	}
	l.Detach(unsafe.Pointer(&n))
	_, err := Of(reflect.TypeFor[object](), "in", Rules{IsValue: func(t reflect.Type, _ bool) bool { return t == reflect.TypeFor[*box]() }})
	if err == nil || !strings.Contains(err.Error(), "in.hidden holds values but isn't exported") {
		t.Errorf("a hidden place: %v", err)
	}
}

func TestWhatAlwaysHasTheSameValuesTakesNoMemoryToVisit(t *testing.T) {
	type fixed struct {
		A *box
		B struct{ C [2]*box }
	}
	l := layout[fixed](t)
	v := fixed{A: &box{1}}
	v.B.C = [2]*box{{2}, {3}}
	n := 0
	f := func(unsafe.Pointer, Place) error { n++; return nil }
	if allocs := testing.AllocsPerRun(10, func() { _ = l.Each(unsafe.Pointer(&v), f) }); allocs != 0 || n == 0 {
		t.Errorf("%v allocations, %d values", allocs, n)
	}
}
