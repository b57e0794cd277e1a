package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// Write two tensors and read them back.
func Example() {
	ctx := context.Background()
	dir := vfs.MemDir() // or vfs.OSDir("/models")

	w, err := bundle.NewWriter(dir, "model/ckpt-1", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // does nothing once Finish has succeeded
	kernel := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	if err := w.Add(ctx, "dense/kernel", kernel); err != nil {
		log.Fatal(err)
	}
	if err := w.Add(ctx, "dense/units", tensor.Scalar(int64(2))); err != nil {
		log.Fatal(err)
	}
	if err := w.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Files())

	r, err := bundle.Open(ctx, dir, "model/ckpt-1", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for e := range r.Entries() {
		fmt.Printf("%s %v%v, %d bytes at %d\n", e.Name, e.DType, e.Shape, e.Size, e.Offset)
	}
	t, err := r.Read(ctx, "dense/kernel")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](t))
	// Output:
	// [model/ckpt-1.data-00000-of-00001 model/ckpt-1.index]
	// dense/kernel float32[3,2], 24 bytes at 0
	// dense/units int64[], 8 bytes at 24
	// [1 2 3 4 5 6]
}

// Read many tensors at once, in parallel, into storage that is there already.
func ExampleReader_ReadAll() {
	ctx := context.Background()
	r, err := bundle.Open(ctx, os.DirFS("testdata/tf2.21"), "strings/ckpt", nil)
	if err != nil {
		log.Fatal(err)
	}
	floats := tensor.Must(tensor.Zeros(tensor.Float32, 3))
	reqs := []bundle.ReadRequest{{Name: "floats", Dst: floats}, {Name: "scalar"}}
	if err := r.ReadAll(ctx, reqs, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](floats), reqs[1].Dst.Strings())
	// Output: [0 1 2] [one]
}

// A name that isn't there comes with the nearest ones.
func ExampleNotFoundError() {
	ctx := context.Background()
	r, err := bundle.Open(ctx, os.DirFS("testdata/tf2.21"), "strings/ckpt", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = r.Read(ctx, "float")
	fmt.Println(errors.Is(err, bundle.ErrNotFound))
	fmt.Println(err)
	// Output:
	// true
	// bundle: strings/ckpt has no tensor "float"; similar names: ["floats"]
}

// A tensor partitioned into slices can be read whole or cut anew.
func ExampleReader_ReadSlice() {
	ctx := context.Background()
	r, err := bundle.Open(ctx, os.DirFS("testdata/tf2.21"), "slices/ckpt", nil)
	if err != nil {
		log.Fatal(err)
	}
	e, _ := r.Entry("grid")
	fmt.Println(e.DType, e.Shape, e.Slices)
	s, err := bundle.ParseSlice("2,2:1,2:-")
	if err != nil {
		log.Fatal(err)
	}
	t, err := r.ReadSlice(ctx, "grid", s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Shape(), tensor.Values[int64](t)[:3])
	// Output:
	// int64 [4,6,8] [0,3:0,2:- 3,1:0,2:- 0,3:2,4:- 3,1:2,4:0,8]
	// [2,2,8] [104 105 106]
}

// Write a checkpoint again with other names; unknown fields are kept.
func ExampleWriter_CopyAll() {
	ctx := context.Background()
	r, err := bundle.Open(ctx, os.DirFS("testdata/tf2.21"), "merge_one/ckpt", nil)
	if err != nil {
		log.Fatal(err)
	}
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "renamed", &bundle.WriterOptions{Like: r})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort()
	err = w.CopyAll(ctx, r, func(name string) (string, bool) { return "model/" + name, name != "y" })
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	n, err := bundle.Open(ctx, dir, "renamed", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Names())
	// Output: [model/x]
}

// Make one checkpoint of several, as the workers of a training job write them.
func ExampleMerge() {
	ctx := context.Background()
	dir := vfs.MemDir()
	for i, name := range []string{"worker0", "worker1"} {
		w, err := bundle.NewWriter(dir, name, nil)
		if err != nil {
			log.Fatal(err)
		}
		defer w.Abort()
		if err := w.Add(ctx, fmt.Sprintf("v%d", i), tensor.Scalar(float32(i))); err != nil {
			log.Fatal(err)
		}
		if err := w.Finish(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := bundle.Merge(ctx, dir, "all", []string{"worker0", "worker1"}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(dir.Names())
	// Output: [all.data-00000-of-00002 all.data-00001-of-00002 all.index]
}

// Find the checkpoint that a path means.
func ExampleFindPrefix() {
	fsys := os.DirFS("testdata/tf2.21")
	for _, name := range []string{"objects", "strings/ckpt.index", "strings"} {
		found, err := bundle.FindPrefix(fsys, name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(found.Prefix)
	}
	// Output:
	// objects/ckpt-1
	// strings/ckpt
	// bundle: no checkpoint at "strings": found a directory without a checkpoint file; the directory holds the checkpoint "strings/ckpt"
}

// The bytes of the smallest index, with their meaning.
func ExampleDump() {
	ctx := context.Background()
	dir := vfs.MemDir()
	w, err := bundle.NewWriter(dir, "x", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort()
	if err := w.Add(ctx, "v", tensor.Vector[int32](1, 2)); err != nil {
		log.Fatal(err)
	}
	if err := w.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	if err := bundle.Dump(ctx, os.Stdout, dir, "x"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// data block, 36 bytes
	// 00000000  00 00 06                               entry: key shares 0 bytes and has 0 more, value has 6
	// 00000003                                           key ""
	// 00000003  08 01                                    num_shards 1
	// 00000005  1a 02 08 01                              version: producer 1, min_consumer 0, bad_consumers []
	// 00000009  00 01 0f                               entry: key shares 0 bytes and has 1 more, value has 15
	// 0000000c  76                                       key "v"
	// 0000000d  08 03                                    dtype int32
	// 0000000f  12 04 12 02 08 02                        shape [2]
	// 00000015  28 08                                    size 8
	// 00000017  35 bf df db 7a                           masked checksum, of which crc32c is 7a73ec2c
	// 0000001c  00 00 00 00                            1 restarts
	// 00000020  01 00 00 00                            number of restarts
	// 00000024  00                                     type 0
	// 00000025  40 16 66 1a                            masked checksum, of which crc32c is 95b43bf1
	//                                                metaindex block, 8 bytes
	// 00000029  00 00 00 00                            1 restarts
	// 0000002d  01 00 00 00                            number of restarts
	// 00000031  00                                     type 0
	// 00000032  c0 f2 a1 b0                            masked checksum, of which crc32c is 83f4070f
	//                                                index block, 14 bytes
	// 00000036  00 01 02                               entry: key shares 0 bytes and has 1 more, value has 2
	// 00000039  77                                       key "w"
	// 0000003a  00 24                                    block at 0, 36 bytes
	// 0000003c  00 00 00 00                            1 restarts
	// 00000040  01 00 00 00                            number of restarts
	// 00000044  00                                     type 0
	// 00000045  94 60 b2 cd                            masked checksum, of which crc32c is bade1597
	//                                                footer
	// 00000049  29 08                                  metaindex block at 41, 8 bytes
	// 0000004b  36 0e                                  index block at 54, 14 bytes
	// 0000004d  00 00 00 00 00 00 00 00 00 ... 00 00    padding
	// 00000071  57 fb 80 8b 24 75 47 db                magic number
}
