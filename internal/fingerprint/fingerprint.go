// Package fingerprint computes the FingerprintDef of a SavedModel, the message of the
// file fingerprint.pb, as TensorFlow 2.21 does. Packages inspect and savedmodel use it.
//
// Each hash is a FarmHash Fingerprint64, H below, of a message in its canonical
// encoding ([pb.Canonical]):
//
//	saved_model_checksum     H(the SavedModel)
//	graph_def_program_hash   H(the first MetaGraph's GraphDef without the differences
//	                         between two saves of one program)
//	signature_def_hash       H of each signature's name and SignatureDef, joined by name
//	saved_object_graph_hash  H of each traced function's name and entry, joined in the
//	                         order of the numbers at the end of the names
//	checkpoint_hash          H(variables/variables.index), 0 if there is none
//
// The functions' bodies are not part of the graph's hash: its library is left out.
package fingerprint

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dgryski/go-farm"

	"github.com/cairnml/cairn/internal/pb"
)

// producer is the version of the rules.
const producer = 4

// Compute returns the fingerprint of a SavedModel whose variables have the given index
// file; nil for none. The model is brought into its canonical form, so that its encoding
// afterwards, encoded, is the one that the checksum is of. The UUID, which TensorFlow draws,
// is made of the hashes: equal models have equal ones.
func Compute(m *pb.SavedModel, index []byte) (f *pb.FingerprintDef, encoded []byte, err error) {
	if err := pb.Canonical(m); err != nil {
		return nil, nil, err
	}
	encoded = m.Marshal()
	f = &pb.FingerprintDef{Version: &pb.VersionDef{Producer: producer}, SavedModelChecksum: farm.Fingerprint64(encoded)}
	if len(m.MetaGraphs) > 0 {
		if err := hashParts(f, m.MetaGraphs[0]); err != nil {
			return nil, nil, err
		}
	}
	if index != nil {
		f.CheckpointHash = farm.Fingerprint64(index)
	}
	f.Uuid = uuid(f)
	return f, encoded, nil
}

// hashParts fills in the hashes of the parts of a MetaGraph.
func hashParts(f *pb.FingerprintDef, g *pb.MetaGraphDef) error {
	var err error
	if f.GraphDefProgramHash, err = graphHash(g.GraphDef); err != nil {
		return err
	}
	f.SignatureDefHash = signaturesHash(g.SignatureDef)
	f.SavedObjectGraphHash, err = objectsHash(g.ObjectGraphDef)
	return err
}

// uuid returns a number of 128 bits in decimal, made of the hashes.
func uuid(f *pb.FingerprintDef) string {
	high := join(join(f.SavedModelChecksum, f.GraphDefProgramHash), f.CheckpointHash)
	low := join(join(f.SignatureDefHash, f.SavedObjectGraphHash), f.SavedModelChecksum)
	n := new(big.Int).SetUint64(high)
	n.Lsh(n, 64)
	return n.Or(n, new(big.Int).SetUint64(low)).String()
}

// join joins two hashes, as FingerprintCat64 of TensorFlow does.
func join(a, b uint64) uint64 {
	const k = 0xc6a4a7935bd1e995
	shift := func(x uint64) uint64 { return x ^ x>>47 }
	r := a ^ k
	r ^= shift(b*k) * k
	r *= k
	return shift(shift(r) * k)
}

// graphHash returns the hash of a graph without its library and versions. In calls of
// functions the numbers of their names and config_proto are left out, in constants the
// values of strings.
func graphHash(l *pb.Lazy[pb.GraphDef]) (uint64, error) {
	g := &pb.GraphDef{}
	if l != nil {
		m, err := l.Get()
		if err != nil {
			return 0, err
		}
		without := *m
		without.Library, without.Versions = nil, nil
		// A copy: the message belongs to the caller.
		if err := g.Unmarshal(without.Marshal()); err != nil {
			return 0, err
		}
	}
	for _, n := range g.Node {
		switch n.Op {
		case "PartitionedCall", "StatefulPartitionedCall":
			for _, a := range n.Attr {
				switch v := a.Value; {
				case v == nil:
				case a.Key == "f" && v.Func != nil:
					v.Func.Name = withoutNumber(v.Func.Name)
				case a.Key == "config_proto":
					v.Which, v.S = pb.AttrValueS, []byte{}
				}
			}
		case "Const":
			if d, ok := pb.Lookup(n.Attr, "dtype"); !ok || d == nil || d.Type != stringType {
				continue
			}
			for _, a := range n.Attr {
				if a.Key == "value" {
					a.Value = &pb.AttrValue{}
				}
			}
		}
	}
	g.Library, g.Versions = &pb.FunctionDefLibrary{}, &pb.VersionDef{}
	return farm.Fingerprint64(g.Marshal()), nil
}

// stringType is DT_STRING.
const stringType = 7

// number returns the number after the last "_" of a function's name; all of a name
// without "_" is one. Like TensorFlow's parser it allows a sign and spaces around.
func number(name string) (int64, error) {
	return strconv.ParseInt(strings.Trim(name[strings.LastIndexByte(name, '_')+1:], " \t\n\v\f\r"), 10, 64)
}

// withoutNumber cuts the number off the end of a function's name. Zeros before it stay.
func withoutNumber(name string) string {
	n, err := number(name)
	if err != nil {
		return name
	}
	return strings.TrimSuffix(name, strconv.FormatInt(n, 10))
}

func signaturesHash(list []*pb.SignatureDefEntry) uint64 {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *pb.SignatureDefEntry) int { return strings.Compare(a.Key, b.Key) })
	var h uint64
	for _, e := range sorted {
		h = join(h, farm.Fingerprint64([]byte(e.Key)))
		var b []byte
		if e.Value != nil {
			b = e.Value.Marshal()
		}
		h = join(h, farm.Fingerprint64(b))
	}
	return h
}

func objectsHash(l *pb.Lazy[pb.SavedObjectGraph]) (uint64, error) {
	if l == nil {
		return 0, nil
	}
	g, err := l.Get()
	if err != nil {
		return 0, err
	}
	type function struct {
		number int64
		name   string
		entry  *pb.SavedConcreteFunction
	}
	var list []function
	for _, e := range g.ConcreteFunctions {
		n, err := number(e.Key)
		if err != nil {
			return 0, fmt.Errorf("the function %q has no number at its end", e.Key)
		}
		list = append(list, function{n, withoutNumber(e.Key), e.Value})
	}
	slices.SortStableFunc(list, func(a, b function) int {
		switch {
		case a.number < b.number:
			return -1
		case a.number > b.number:
			return 1
		}
		return 0
	})
	var h uint64
	for _, f := range list {
		h = join(h, farm.Fingerprint64([]byte(f.name)))
		var b []byte
		if f.entry != nil {
			b = f.entry.Marshal()
		}
		h = join(h, farm.Fingerprint64(b))
	}
	return h, nil
}
