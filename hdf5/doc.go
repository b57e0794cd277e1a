// Package hdf5 reads and writes HDF5 files: the part of the format that h5py writes, so also all
// files of Keras.
//
// [Open] reads headers only. A [Dataset] reads its elements straight into a tensor; many
// goroutines may read at the same time. A [Writer] collects groups, datasets and attributes and
// writes them from the first byte to the last. The package needs no C library and links none.
//
// # Supported for reading
//
//	superblocks   0, 1, 2 and 3, at byte 0, 512, 1024, 2048, …
//	groups        symbol tables; links in headers; links in fractal heaps
//	datasets      compact, contiguous, chunked
//	chunks        found by B-trees of version 1 and 2, single, implicit, in fixed and extensible arrays
//	filters       gzip, shuffle, fletcher32
//	attributes    in headers and in fractal heaps
//	elements      integers, half, bfloat16, float, double, float8_e5m2; complex numbers and booleans
//	              as h5py stores them; strings of fixed and of varying length. Other elements have
//	              their bytes only ([Dataset.ReadRaw]).
//
// Other contents are an [UnsupportedError] that names them: soft and external links, references,
// virtual datasets, datasets in other files, other filters. The file's other objects can be read.
//
// # Written files
//
// The [Writer] writes files as h5py does by default: superblock 0, symbol tables, headers of
// version 1, contiguous datasets, and on demand chunks with filters. All structures come first, in
// the order of paths, the elements after them in the same order. Nothing else enters the file, so
// the same content produces the same bytes.
//
// # The structures
//
// They are those of the HDF5 File Format Specification, version 3.0, and must stay. Numbers are
// little-endian. O is an address and L a length, of the size that the superblock states, here 8
// bytes. Addresses count from the superblock; one with all bits set is undefined. Each object is a
// header that consists of messages.
//
//	superblock, version 0 (96 bytes)
//	┌──────────────────────┬──────────┬─────┬─────┬───────────┬────────┬─────────┬─────────┬─────────┐
//	│ 89 HDF 0d 0a 1a 0a 8 │ 0 × 5    │ O 1 │ L 1 │ 0 1       │ leaf K │ group K │ flags 4 │ base O  │
//	│                      │ versions │     │     │           │ 2      │ 2       │         │         │
//	├──────────────────────┴┬─────────┴─────┴┬────┴───────────┴────────┴─────────┴─────────┴─────────┤
//	│ free space O (undef.) │ file's end O   │ driver O (undef.) │ root's entry 40                   │
//	└───────────────────────┴────────────────┴───────────────────┴───────────────────────────────────┘
//
//	superblock, version 2 and 3 (48 bytes)
//	│ signature 8 │ version 1 │ O 1 │ L 1 │ flags 1 │ base O │ extension O │ end O │ root's header O │ sum 4 │
//
//	header, version 1
//	│ 1 1 │ 0 1 │ messages 2 │ links 4 │ size 4 │ 0 4 │ ( type 2 │ size 2 │ flags 1 │ 0 3 │ body ) … │
//	header, version 2
//	│ OHDR │ 2 1 │ flags 1 │ times │ size 1–8 │ ( type 1 │ size 2 │ flags 1 │ order 0–2 │ body ) … │ sum 4 │
//	A continuation message names another run of messages.
//
//	group with a symbol table: a B-tree whose leaves are nodes of links, and a heap with the names
//	│ TREE │ 0 1 │ level 1 │ children 2 │ left O │ right O │ key L │ child O │ key L │ … │
//	│ SNOD │ 1 1 │ 0 1 │ links 2 │ ( name O │ header O │ kind 4 │ 0 4 │ 16 ) … │
//	│ HEAP │ 0 1 │ 0 3 │ size L │ free L │ data O │    names end at a NUL
//
//	group with links: link messages in its header; if they are many, in a fractal heap, which a
//	B-tree of version 2 lists by the hash of their names
//	│ 1 1 │ flags 1 │ kind 0–1 │ order 0–8 │ letters 0–1 │ length 1–8 │ name │ header O │
//
//	dataset: the messages dataspace (shape), datatype, fill value, layout and filters
//	layout 3    │ 3 1 │ 1 1 │ elements O │ bytes L │
//	            │ 3 1 │ 2 1 │ rank + 1 1 │ index O │ ( size 4 ) × rank │ bytes of an element 4 │
//	layout 4    │ 4 1 │ 2 1 │ flags 1 │ rank + 1 1 │ width 1 │ sizes │ index's kind 1 │ … │ index O │
//
//	chunk, in a B-tree of version 1: the key before its address
//	│ bytes in the file 4 │ skipped filters 4 │ ( first element 8 ) × rank │ 0 8 │
//
//	attribute, version 1: each part padded to a multiple of 8
//	│ 1 1 │ 0 1 │ name's size 2 │ type's 2 │ shape's 2 │ name │ datatype │ dataspace │ elements │
//
//	string of varying length: its place in a collection of the global heap
//	│ bytes 4 │ collection O │ object 4 │
//	│ GCOL │ 1 1 │ 0 3 │ size L │ ( object 2 │ links 2 │ 0 4 │ size L │ bytes, padded to 8 ) … │
//
// Checksums (sum) are Bob Jenkins' lookup3 of all bytes before them. In the format of superblock 0
// only fletcher32 protects anything: a damaged number in it is read as another number.
//
// # An example
//
// A file with one dataset "x", the int32s 1 and 2, has 1184 bytes. All that are not shown are
// zero.
//
//	000  89 48 44 46 0d 0a 1a 0a     the signature
//	00d  08 08                       addresses and lengths have 8 bytes
//	010  04 00 10 00                 leaf K 4, group K 16
//	020  ff ff ff ff ff ff ff ff     no free space
//	028  a0 04                       the file's end
//	030  ff ff ff ff ff ff ff ff     no driver
//	040  70 04                       the root's header
//	048  01                          its B-tree and its heap are here too
//	050  20 02                       the B-tree
//	058  40 04                       the heap
//	060  01 00 04 00 01 00 00 00     header of x: version 1, 4 messages, 1 link
//	068  68                          104 bytes of messages
//	070  01 00 18 00                 dataspace, 24 bytes
//	078  01 01 01                      version 1, rank 1, with largest sizes
//	080  02                            size 2
//	088  02                            at most 2
//	090  03 00 10 00 01              datatype, 16 bytes, never changes
//	098  10 08 00 00 04                version 1, integer, signed, 4 bytes
//	0a2  20 00                         32 bits
//	0a8  05 00 08 00 01              fill value, 8 bytes
//	0b0  02 02 02 01                   version 2, the default
//	0b8  08 00 18 00                 layout, 24 bytes
//	0c0  03 01                         version 3, contiguous
//	0c2  98 04                         the elements
//	0ca  08                            8 bytes
//	0d8  53 4e 4f 44 01 00 01 00     SNOD, version 1, 1 link
//	0e0  08                            its name, in the heap
//	0e8  60                            its header
//	220  54 52 45 45 00 00 01 00     TREE, of a group, level 0, 1 child
//	228  ff ff ff ff ff ff ff ff     no node before it
//	230  ff ff ff ff ff ff ff ff     and none after it
//	240  d8                          the child, between the names at 0 …
//	248  08                          … and at 8
//	440  48 45 41 50                 HEAP
//	448  10                          16 bytes of names
//	450  01                          no free space
//	458  60 04                       the names
//	468  78                            "x", after the empty one
//	470  01 00 01 00 01 00 00 00     header of the root: 1 message
//	478  18                          24 bytes of messages
//	480  11 00 10 00                 symbol table, 16 bytes
//	488  20 02                         the B-tree
//	490  40 04                         the heap
//	498  01 00 00 00 02 00 00 00     the elements
//
// # Refused files
//
// A file is hostile. Nothing is allocated for a size before the file is known to have as many
// bytes, and one call takes no more memory than [Options] allow: in proportion to the bytes on the
// disk, whatever shapes, fill values and compressed chunks ask for. Trees, headers and heaps that
// lead to themselves, nodes at the wrong level, names and chunks that are there twice, chunks that
// together are larger than the file, and sizes that contradict each other are a [CorruptError].
// Nesting is bounded: 256 groups, 8 datatypes, 64 levels of a tree. No input makes the package
// panic.
package hdf5
