package graph

import (
	"cmp"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// Survey finds the parts of an encoded GraphDef that calls need, without making
// a graph. A graph takes many times the memory of the names that a survey
// stores.
type Survey struct {
	known     func(op string) bool
	seed      maphash.Seed
	nodes     survey          // the graph's
	functions survey          // the library's
	calls     []pb.Source     // functions whose bodies are still to be read
	called    map[uint64]bool // hashes of the names of the functions that calls has had
	bodies    map[uint64]bool // the names in a function's body
	parts     *pb.Parts       // reused for each function
	buf       []byte          // for a node of the graph
}

// survey is a list of messages in the order of the hashes of their names. It
// accepts equal names; the code that makes the graph reports them.
type survey struct {
	from []pb.Source // the messages that hold them
	at   []place
}

// place is the position of a message.
type place struct {
	hash uint64 // of the name
	off  int64
	size int32
	from int32 // in survey.from
}

// sort ends the adding.
func (s *survey) sort() {
	slices.SortFunc(s.at, func(a, b place) int { return cmp.Compare(a.hash, b.hash) })
}

// part returns the message of that hash.
func (s *survey) part(h uint64) (pb.Source, bool) {
	i, ok := slices.BinarySearchFunc(s.at, h, func(p place, h uint64) int { return cmp.Compare(p.hash, h) })
	if !ok {
		return pb.Source{}, false
	}
	x := s.at[i]
	return s.from[x.from].Slice(x.off, int64(x.size)), true
}

// add notes the message that p is at, of the source with that number.
func (s *survey) add(hash uint64, p *pb.Parts, from int) error {
	if p.Part.Len() > math.MaxInt32 {
		return errors.New("a message of more than 2 GiB")
	}
	s.at = append(s.at, place{hash, p.Offset(), int32(p.Part.Len()), int32(from)})
	return nil
}

// newSurvey begins a survey of a GraphDef. known reports whether an op is
// allowed.
func newSurvey(from pb.Source, known func(op string) bool) (*Survey, error) {
	s := &Survey{known: known, seed: maphash.MakeSeed(), called: map[uint64]bool{}, bodies: map[uint64]bool{}}
	s.nodes.from = []pb.Source{from}
	p := from.Parts()
	for p.Next() {
		switch {
		case !p.Whole:
		case p.Number == fieldNodes:
			name, err := nameAt(p, fieldName)
			if err == nil {
				err = s.nodes.add(maphash.Bytes(s.seed, name), p, 0)
			}
			if err != nil {
				return nil, err
			}
		case p.Number == fieldLibrary:
			s.functions.from = append(s.functions.from, p.Part)
		}
	}
	if p.Err != nil {
		return nil, p.Err
	}
	for i, l := range s.functions.from {
		p = p.Over(l)
		for p.Next() {
			if !p.Whole || p.Number != fieldFunction {
				continue
			}
			name, err := functionName(p)
			if err == nil {
				err = s.functions.add(maphash.Bytes(s.seed, name), p, i)
			}
			if err != nil {
				return nil, err
			}
		}
		if p.Err != nil {
			return nil, p.Err
		}
	}
	s.nodes.sort()
	s.functions.sort()
	s.parts = p
	return s, nil
}

func (s *Survey) hash(name string) uint64 { return maphash.String(s.seed, name) }

// HasNode reports whether the graph has a node of that name.
func (s *Survey) HasNode(name string) bool {
	_, ok := s.nodes.part(s.hash(name))
	return ok
}

// Reaches visits the nodes that compute tensors, "node:1", from others that are
// fed, and the functions that these call. It returns false if something doesn't
// exist, or if an op isn't known. Making the graph then returns the precise
// error.
func (s *Survey) Reaches(fetches, fed []string) (bool, error) {
	seen := map[uint64]bool{}
	for _, name := range fed {
		if name, _, _ = strings.Cut(name, ":"); !s.HasNode(name) {
			return false, nil
		}
		seen[s.hash(name)] = true
	}
	var todo []uint64
	reach := func(name string) {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "^"), ":")
		if h := s.hash(name); !seen[h] {
			seen[h] = true
			todo = append(todo, h)
		}
	}
	for _, name := range fetches {
		reach(name)
	}
	for len(todo) > 0 {
		x, ok := s.nodes.part(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if !ok {
			return false, nil
		}
		b, err := x.ReadInto(s.buf)
		if err != nil {
			return false, err
		}
		s.buf = b
		if !s.node(b, func(input string) bool { reach(input); return true }) {
			return false, nil
		}
	}
	for ; len(s.calls) > 0; s.calls = s.calls[1:] {
		if ok, err := s.body(s.calls[0]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// node visits an encoded node and calls input with the name of each input.
func (s *Survey) node(b []byte, input func(name string) bool) bool {
	ok := true
	f := pb.Fields{Rest: b}
	for ok && f.Next() {
		switch {
		case f.Bytes == nil:
		case f.Number == fieldOp:
			ok = s.call(f.Text()) || s.known(f.Text())
		case f.Number == fieldInput:
			ok = input(f.Text())
		case f.Number == fieldAttr:
			links{}.ofEntry(f.Bytes, 0, func(name string) { ok = ok && (s.call(name) || s.known(name)) })
		}
	}
	return ok && !f.Bad
}

// call notes that a function is called, and reports whether there is one of that name.
func (s *Survey) call(name string) bool {
	h := s.hash(name)
	f, ok := s.functions.part(h)
	if !ok {
		return false
	}
	if !s.called[h] {
		s.called[h] = true
		s.calls = append(s.calls, f)
	}
	return true
}

// Numbers of the fields of a FunctionDef and of a signature's.
const (
	fieldRet        = 4
	fieldControlRet = 6
	fieldInputArg   = 2
)

// body visits an encoded FunctionDef: first the names of its nodes, then the
// references of its nodes and results.
func (s *Survey) body(from pb.Source) (bool, error) {
	clear(s.bodies)
	has := func(ref string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(ref, "^"), ":")
		return s.bodies[s.hash(name)]
	}
	for _, look := range []func(number protowire.Number, b []byte) bool{
		func(number protowire.Number, b []byte) bool {
			switch number {
			case fieldFunctionNodes:
				s.bodies[s.hash(pb.StringAt(b, fieldName))] = true
			case fieldSignature:
				for f := (pb.Fields{Rest: b}); f.Next(); {
					if f.Number == fieldInputArg && f.Bytes != nil {
						s.bodies[s.hash(pb.StringAt(f.Bytes, fieldName))] = true
					}
				}
			}
			return true
		},
		func(number protowire.Number, b []byte) bool {
			switch number {
			case fieldFunctionNodes:
				return s.node(b, has)
			case fieldRet, fieldControlRet:
				return has(pb.StringAt(b, 2)) // of an entry of a map
			}
			return true
		},
	} {
		p := s.parts.Over(from)
		s.parts = p
		for p.Next() {
			if !p.Whole {
				continue
			}
			switch p.Number {
			case fieldSignature, fieldFunctionNodes, fieldRet, fieldControlRet:
			default:
				continue
			}
			b, err := p.Bytes()
			if err != nil {
				return false, err
			}
			if !look(p.Number, b) {
				return false, nil
			}
		}
		if p.Err != nil {
			return false, p.Err
		}
	}
	return true, nil
}
