// Package bundle reads and writes TensorFlow's checkpoint files: TensorBundle
// (version 2, tensorflow/core/util/tensor_bundle) and the single table used
// before it (version 1, tensor_slice_reader.cc).
//
// A [Reader] knows the index and reads tensors when asked, many in parallel
// ([Reader.ReadAll]); a [Writer] writes them, [Merge] joins bundles,
// [FindPrefix] resolves a user's path to a checkpoint, [Dump] shows an index
// byte by byte. Files come from any [fs.FS] and go to a [vfs.Dir]. This package
// knows nothing of objects: package checkpoint does.
//
// # The files
//
// A bundle with the prefix model.ckpt-10 and n data files is
//
//	model.ckpt-10.index                   the names and locations of tensors
//	model.ckpt-10.data-00000-of-0000n     the tensors' bytes
//	…
//	model.ckpt-10.data-0000m-of-0000n     m = n-1
//
// # Data files
//
// A data file is a plain sequence of tensors, in the order in which they were
// written, not in that of their names. With an alignment zeros follow each, up
// to a multiple of it.
//
//	fixed-size elements   the elements, in row-major order and the byte order
//	                      that the index's header names. A complex number is two
//	                      floats, each in that order. int4, uint4, int2, uint2
//	                      and float4_e2m1fn take a byte an element, its upper
//	                      bits zero.
//	                      checksum: the bytes in the file
//
//	strings               length (varint) × n │ sum (4) │ bytes of all strings
//	                      sum: masked, over the lengths as numbers of 4 bytes, or
//	                      8 bytes for one of 2³² and more, in the header's byte
//	                      order. It is stored in that order, too.
//	                      checksum: the lengths as such numbers, sum as stored, the bytes
//
//	variants              ( length (varint) │ message │ sum (4) ) × n
//	                      message: an encoded VariantTensorDataProto, which stays
//	                      as it is here
//	                      sum: masked, over all before it: lengths as numbers of
//	                      8 bytes, messages, sums
//	                      checksum: the same to the end
//
// # Checksums
//
// All are CRC-32C (Castagnoli), and stored masked: rotated right by 15 bits,
// plus 0xa282ead8, modulo 2³². [Entry] has them unmasked, as hash/crc32 returns
// them.
//
// # The index
//
// The index is a sorted table, LevelDB's format, uncompressed. Numbers of fixed
// width are little-endian on every machine.
//
//	┌──────────────────────────────────────────────────────────────┐
//	│ data block:  entries by key                                  │
//	├──────────────────────────────────────────────────────────────┤
//	│ …            a block ends when it reaches 262,144 bytes      │
//	├──────────────────────────────────────────────────────────────┤
//	│ metaindex block: no entries                                  │
//	├──────────────────────────────────────────────────────────────┤
//	│ index block: for each data block a key that is not below its │
//	│ last and below the next one's first, and its handle          │
//	├──────────────────────────────────────────────────────────────┤
//	│ footer (48): metaindex handle and index handle (4 varints),  │
//	│ zeros up to byte 40, magic number 57 fb 80 8b 24 75 47 db    │
//	└──────────────────────────────────────────────────────────────┘
//
//	a block     entries │ restart (4) × r │ r (4) │ type (1) = 0 │ sum (4)
//	            sum: masked, over all before it, the type included
//	an entry    shared (varint) │ unshared (varint) │ value length (varint) │
//	            unshared bytes of the key │ value
//	            The key begins with so many bytes of the key before; with none
//	            at a restart, which every sixteenth entry is, in the index block
//	            every one.
//
// The keys are those of the header (empty, so that it comes first), of the
// slices, and of the tensors, in the order of their bytes. The values are
// messages whose fields are in the order of their numbers; zeros are left out.
//
//	header      1 num_shards   2 endianness (0 little, 1 big)
//	            3 version { 1 producer = 1  2 min_consumer  3 bad_consumers }
//	entry       1 dtype   2 shape { 2 dim { 1 size } … }, there for a scalar, too
//	            3 shard_id   4 offset   5 size   6 checksum (fixed32, masked)
//	            7 slices { 1 extent { 1 start  2 length } … }
//
// A tensor saved in parts has an entry that lists its slices, in the order in
// which they were added, and has no bytes; a full extent is an empty message.
// Each slice has an entry like a tensor's, under a key that begins with a zero
// byte, so that it comes before all names: the number 0, the name, the rank,
// and start and length of each extent (0 and -1 for a full one) in ordered
// code, bytes that sort as the values do (slicekey.go).
//
// # An example
//
// A bundle of one tensor "v", the int32s 1 and 2, has the data file 01 00 00 00
// 02 00 00 00, and its index begins with these 41 bytes (the whole of it is in
// the example of [Dump]):
//
//	00 00 06                key: shares 0, has 0 more; value: 6 bytes
//	  08 01                 num_shards 1
//	  1a 02 08 01           version { producer 1 }
//	00 01 0f                key: shares 0, has 1 more; value: 15 bytes
//	76                      "v"
//	  08 03                 dtype int32
//	  12 04 12 02 08 02     shape { dim { size 2 } }
//	  28 08                 size 8 (shard 0 and offset 0 are left out)
//	  35 bf df db 7a        checksum
//	00 00 00 00             the restart at 0
//	01 00 00 00             one restart
//	00                      type: not compressed
//	40 16 66 1a             sum
//
// # Refused files
//
// A file is taken for hostile. Nothing is allocated for a size before it is
// known that the file can hold it; keys that grow out of proportion, blocks
// that overlap, keys out of order, wrong restarts, handles beyond the file, a
// footer that TensorFlow wouldn't write are a [CorruptError] when the bundle is
// opened, and so are entries without a type, of negative or overflowing sizes,
// of a size that is not the shape's, of bytes that overlap another's, slices
// beyond their tensor, without an entry or of another type. Faults in data
// files are found when they are read: a file that is missing or too short, a
// checksum, a length. [Reader.Verify] finds all of it. Every byte of a bundle
// is covered, except for the padding of an alignment.
//
// A header that asks for another reader is a [VersionError] by TensorFlow's
// rules. An element type that is not known is no damage: the other tensors can
// be read.
//
// Variants of a big-endian file can't be read, because only their type
// determines which bytes to swap (TensorFlow refuses those of the other byte
// order, too); bools that are neither 0 nor 1 are refused, which TensorFlow
// doesn't.
//
// # Why the bytes are equal
//
// The same tensors added in the same order produce the bytes that TensorFlow
// 2.21 writes, in index and data: block size, restart interval, the shortest
// separating keys, fields by number without zeros, the empty metaindex, the
// order of the slices. None of these may change. The tests compare them with fixtures that TensorFlow
// wrote (testdata/tf2.21). [Writer.CopyAll] keeps unknown fields of header and
// entries that another writer added.
//
// # How a bundle is written
//
// Everything goes to temporary names first ([IsTemporary]). [Writer.Finish]
// makes the files durable, renames the data files, makes the names durable,
// renames the index, and makes its name durable. Whatever fails or crashes, the
// new index never exists without its data.
package bundle
