// The layout of .irpa files: headers that lead to one another, each with a table of entries, their names and metadata,
// and their contents. Little endian and packed. Offsets of a header are from its own first byte, so that files can be
// put one behind the other; those of entries are from the segment that they point into.
#ifndef IREE_SCHEMAS_PARAMETER_ARCHIVE_H_
#define IREE_SCHEMAS_PARAMETER_ARCHIVE_H_

#include <stdint.h>

typedef uint64_t iree_io_physical_offset_t;
typedef uint64_t iree_io_physical_size_t;

#define IREE_IO_PARAMETER_ARCHIVE_DEFAULT_FILE_ALIGNMENT 4096  // of a file's size
#define IREE_IO_PARAMETER_ARCHIVE_HEADER_ALIGNMENT 16
#define IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT 16         // of each in the table; zeros between them
#define IREE_IO_PARAMETER_ARCHIVE_DEFAULT_DATA_ALIGNMENT 64  // of contents

#pragma pack(push, 1)

typedef uint32_t iree_io_parameter_archive_magic_t;
#define IREE_IO_PARAMETER_ARCHIVE_MAGIC 0x41505249u  // "IRPA"

typedef uint64_t iree_io_parameter_archive_flags_t;  // none yet

typedef struct iree_io_parameter_archive_range_t {
  iree_io_physical_offset_t offset;
  iree_io_physical_size_t length;
} iree_io_parameter_archive_range_t;
typedef iree_io_parameter_archive_range_t iree_io_parameter_archive_metadata_ref_t;  // in the metadata segment
typedef iree_io_parameter_archive_range_t iree_io_parameter_archive_storage_ref_t;   // in the storage segment

// What every version begins with.
typedef struct iree_io_parameter_archive_header_prefix_t {
  iree_io_parameter_archive_magic_t magic;
  uint16_t version_major;  // another one is another layout
  uint16_t version_minor;
  iree_io_physical_size_t header_size;
  iree_io_physical_offset_t next_header_offset;  // 0: the last one
  iree_io_parameter_archive_flags_t flags;
} iree_io_parameter_archive_header_prefix_t;

// A header of major version 0.
typedef struct iree_io_parameter_archive_header_v0_t {
  iree_io_parameter_archive_header_prefix_t prefix;
  iree_io_physical_size_t entry_count;
  iree_io_parameter_archive_range_t entry_segment;
  iree_io_parameter_archive_range_t metadata_segment;
  iree_io_parameter_archive_range_t storage_segment;
} iree_io_parameter_archive_header_v0_t;

enum iree_io_parameter_archive_entry_type_e {
  IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_SKIP = 0,  // erased
  IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_SPLAT = 1,
  IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_DATA = 2,
  IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_EXTERNAL = 3,
};
typedef uint32_t iree_io_parameter_archive_entry_type_t;
typedef uint64_t iree_io_parameter_archive_entry_flags_t;

typedef struct iree_io_parameter_archive_entry_header_t {
  iree_io_physical_size_t entry_size;  // with this header
  iree_io_parameter_archive_entry_type_t type;
  iree_io_parameter_archive_entry_flags_t flags;
  iree_io_parameter_archive_metadata_ref_t name;
  iree_io_parameter_archive_metadata_ref_t metadata;  // length 0: none
  iree_io_physical_size_t minimum_alignment;          // of the contents in the file; 0: any
} iree_io_parameter_archive_entry_header_t;

// A pattern of 1, 2, 4, 8 or 16 bytes, over and over.
typedef struct iree_io_parameter_archive_splat_entry_t {
  iree_io_parameter_archive_entry_header_t header;
  iree_io_physical_size_t length;
  uint8_t pattern[16];
  uint8_t pattern_length;
} iree_io_parameter_archive_splat_entry_t;

typedef struct iree_io_parameter_archive_data_entry_t {
  iree_io_parameter_archive_entry_header_t header;
  iree_io_parameter_archive_storage_ref_t storage;
} iree_io_parameter_archive_data_entry_t;

// Contents in another file.
typedef struct iree_io_parameter_archive_external_entry_t {
  iree_io_parameter_archive_entry_header_t header;
  iree_io_parameter_archive_metadata_ref_t path;
  iree_io_parameter_archive_range_t range;
} iree_io_parameter_archive_external_entry_t;

#pragma pack(pop)

#endif  // IREE_SCHEMAS_PARAMETER_ARCHIVE_H_
