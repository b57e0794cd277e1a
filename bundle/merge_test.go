package bundle

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

// TestAMergeCopiesLargeFilesWhole checks that a merge copies large files
// completely, piece by piece, and without syncs if they are turned off.
func TestAMergeCopiesLargeFilesWhole(t *testing.T) {
	ctx := context.Background()
	for _, noSync := range []bool{false, true} {
		disk := faultfs.New()
		want := sample(t, tensor.Uint8, 2*gather+11)
		write(t, disk, "a", nil, func(w *Writer) { w.Add(ctx, "large", want) })
		write(t, disk, "b", nil, func(w *Writer) { w.Add(ctx, "small", grid(t, 2)) })
		disk.Hook(nil)
		if err := Merge(ctx, disk, "c", []string{"a", "b"}, &MergeOptions{KeepSources: true, NoSync: noSync}); err != nil {
			t.Fatal(err)
		}
		synced := map[string]bool{}
		syncs := 0
		for _, op := range disk.Ops() {
			switch op.Kind {
			case faultfs.Sync:
				synced[op.Name] = true
				syncs++
			case faultfs.SyncDir:
				syncs++
			case faultfs.Rename:
				if !noSync && !synced[op.Name] {
					t.Errorf("%v without having been synced", op)
				}
			}
		}
		if noSync && syncs > 0 {
			t.Errorf("%d syncs", syncs)
		}
		for _, prefix := range []string{"a", "b", "c"} {
			if err := soundness(ctx, disk, prefix); err != nil {
				t.Errorf("%s: %v", prefix, err)
			}
		}
		if got, err := mustOpen(t, disk, "c").Read(ctx, "large"); err != nil || !got.Equal(want) {
			t.Errorf("the copy differs: %v", err)
		}
	}
}

// TestAMergeTellsVersionsApart: a header may have none.
func TestAMergeTellsVersionsApart(t *testing.T) {
	ctx := context.Background()
	index := func(v *pb.VersionDef) []byte {
		return tableOf(t, row{"", (&pb.BundleHeaderProto{NumShards: 1, Version: v}).Marshal()})
	}
	for _, c := range []struct {
		a, b *pb.VersionDef
		same bool
	}{
		{nil, nil, true}, {nil, &pb.VersionDef{}, false}, {&pb.VersionDef{Producer: 1}, nil, false},
		{&pb.VersionDef{Producer: 1}, &pb.VersionDef{Producer: 1}, true}, {&pb.VersionDef{Producer: 1}, &pb.VersionDef{Producer: 2}, false},
	} {
		disk := faultfs.New()
		for name, v := range map[string]*pb.VersionDef{"a": c.a, "b": c.b} {
			disk.Put(IndexName(name), index(v))
			disk.Put(DataName(name, 0, 1), nil)
		}
		err := Merge(ctx, disk, "c", []string{"a", "b"}, nil)
		if c.same != (err == nil) || err != nil && !strings.Contains(err.Error(), "version of the format") {
			t.Errorf("%v and %v: %v", c.a, c.b, err)
		}
	}
}
