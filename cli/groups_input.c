/* Defines the options for input: files, images, tables. */
#include "options.h"

#define AT(field) offsetof(cli_options, read.field)
#define END          \
    {                \
        .name = NULL \
    }
static const option_choice choices_image[] = {{"pixels", DDSC_IMAGE_PIXELS},
                                              {"ink", DDSC_IMAGE_INK},
                                              {"colors", DDSC_IMAGE_COLORS},
                                              {NULL, 0}};

const option_choice choices_encoding[] = {
    {"utf-8", DDSC_ENCODING_UTF8},          {"utf8", DDSC_ENCODING_UTF8},
    {"latin1", DDSC_ENCODING_LATIN1},       {"latin-1", DDSC_ENCODING_LATIN1},
    {"iso-8859-1", DDSC_ENCODING_LATIN1},   {"cp1252", DDSC_ENCODING_CP1252},
    {"windows-1252", DDSC_ENCODING_CP1252}, {NULL, 0}};

static const option_spec encoding_options[] = {OPTION_ENCODING, END};
const option_group group_encoding = {"Text files", encoding_options};

static const option_spec hdf5_options[] = {
    {.name = "format",
     .kind = OPTION_OTHER,
     .parse = value_input_format,
     .argument = "h5ad",
     .help = "read INPUT as HDF5 regardless of its name; other formats are detected by content, "
             "and HDF5 only if the name ends in .h5ad, .h5 or .hdf5"},
    END};
const option_group group_input_format = {"Format", hdf5_options};

static const option_spec input_options[] = {
    {.name = "labels",
     .kind = OPTION_FILE,
     .offset = AT(labels_path),
     .argument = "FILE",
     .help = "class labels of the items, one per row (idx, csv, npy)"},
    OPTION_META,
    OPTION_PRIVATE,
    {.name = "phase",
     .kind = OPTION_COUNT,
     .offset = offsetof(cli_options, phase),
     .minimum = 1,
     .argument = "N",
     .help = "d2 files: use only phase N (default: all phases joined)"},
    {.name = "phases",
     .kind = OPTION_COUNT,
     .offset = offsetof(cli_options, phases),
     .minimum = 1,
     .argument = "N",
     .help = "d2 files: number of phases per object, required if the file is ambiguous (default: "
             "inferred)"},
    {.name = "channels",
     .kind = OPTION_TEXT,
     .offset = AT(channels),
     .argument = "LIST",
     .help = "fcs files: channel names, patterns or numbers from 1 (default: all)"},
    {.name = "as",
     .kind = OPTION_CHOICE,
     .offset = AT(image_as),
     .choices = choices_image,
     .help = "images: bright pixels (default), dark pixels, or a color histogram"},
    {.name = "on-empty",
     .kind = OPTION_CHOICE,
     .offset = AT(on_empty),
     .choices = choices_on_empty,
     .help = "items without mass: stop, or drop them; dropped items keep their rows in the "
             "results, with label -1 (default: error)"},
    OPTION_ENCODING,
    {.name = "read-timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(cli_options, read_timeout),
     .minimum = 0,
     .argument = "SECONDS",
     .help = "h5ad: stop if libhdf5 makes no progress for this time, as with a damaged file "
             "(default: 60; 0: never)"},
    END};
const option_group group_input = {"Input", input_options};

static const option_spec table_options[] = {
    {.name = "id",
     .kind = OPTION_TEXT,
     .offset = AT(id_columns),
     .argument = "COLUMN,...",
     .help = "column that identifies the item of each row; several columns are joined with / "
             "(default: id)"},
    {.name = "columns",
     .kind = OPTION_TEXT,
     .offset = AT(columns),
     .argument = "LIST",
     .help = "the coordinates: names separated by commas; * and ? match any characters, as in "
             "'CD*' (default: all numeric columns); also for fcs files and point clouds"},
    {.name = "drop",
     .kind = OPTION_TEXT,
     .offset = AT(drop),
     .argument = "LIST",
     .help = "columns that are not coordinates, given in the same way; also for fcs files and "
             "point clouds"},
    {.name = "weight",
     .kind = OPTION_TEXT,
     .offset = AT(weight_column),
     .argument = "COLUMN",
     .help = "column with the weights of the points (default: weight, if it exists)"},
    {.name = "label",
     .kind = OPTION_TEXT,
     .offset = AT(label_column),
     .argument = "COLUMN",
     .help = "column with the classes of the items (default: label, if it exists)"},
    {.name = "type",
     .kind = OPTION_TEXT,
     .offset = AT(type_column),
     .argument = "COLUMN",
     .help = "column with the type of each point, such as the cell type; the report and 'ddsc "
             "states' compare the shares of the types"},
    {.name = "matrix",
     .kind = OPTION_TEXT,
     .offset = AT(matrix),
     .argument = "NAME",
     .help = "HDF5 files: table of points, a layer, or the name of an embedding in obsm (X_pca) "
             "(default: X)"},
    {.name = "where",
     .kind = OPTION_OTHER,
     .parse = value_where,
     .argument = "COLUMN=VALUE",
     .help = "use only rows with this value"},
    END};
const option_group group_table = {"Tables (csv, tsv, h5ad)", table_options};

#undef AT
#define AT(field) offsetof(cli_options, transform.field)

static const option_choice choices_normalize[] = {
    {"none", DDSC_NORMALIZE_NONE},         {"auto", NORMALIZE_AUTO},
    {"standard", DDSC_NORMALIZE_STANDARD}, {"robust", DDSC_NORMALIZE_ROBUST},
    {"rank", DDSC_NORMALIZE_RANK},         {NULL, 0}};
static const option_choice choices_align[] = {{"center", DDSC_ALIGN_CENTER},
                                              {"size", DDSC_ALIGN_SIZE},
                                              {"deskew", DDSC_ALIGN_DESKEW},
                                              {"principal", DDSC_ALIGN_PRINCIPAL},
                                              {NULL, 0}};

static const option_spec transform_options[] = {
    {.name = "per-item",
     .kind = OPTION_COUNT,
     .offset = AT(per_item),
     .minimum = 1,
     .argument = "N",
     .help = "draw N points, using --seed, from each item that has more"},
    {.name = "arcsinh",
     .kind = OPTION_TEXT,
     .offset = AT(arcsinh),
     .argument = "C",
     .help = "replace each value x by arcsinh(x / C); typical values are 5 for mass cytometry and "
             "150 for fluorescence; NAME=C,... applies to some coordinates only ('CD*=5,p*=1')"},
    {.name = "logicle",
     .kind = OPTION_TEXT,
     .offset = AT(logicle),
     .argument = "T[:W[:M[:A]]]",
     .help = "logicle scale of flow cytometry with top T (usually 262144), of M decades in total "
             "(default: 4.5) with W linear decades around 0 (default: fitted to the negative "
             "values); NAME=T:W:M:A,... applies to some coordinates only"},
    {.name = "log1p",
     .kind = OPTION_FLAG,
     .offset = AT(log1p),
     .help = "replace each value x by ln(1 + x)"},
    {.name = "batch",
     .kind = OPTION_TEXT,
     .offset = AT(batch),
     .argument = "COLUMN",
     .help = "map the quantiles of each coordinate in a batch to those of all items; COLUMN is a "
             "column of INPUT or of the table of --meta"},
    {.name = "normalize",
     .kind = OPTION_CHOICE,
     .offset = AT(normalize),
     .choices = choices_normalize,
     .help = "rescale coordinates to variance 1 (standard), to interquartile range 1 (robust), or "
             "to ranks from 0 to 1 (rank); auto chooses standard or rank if the units of the "
             "coordinates differ, and reports the choice (default: none)"},
    {.name = "pca",
     .kind = OPTION_COUNT,
     .offset = AT(pca),
     .minimum = 1,
     .argument = "D",
     .help = "project to the first D principal components of all points"},
    {.name = "align",
     .kind = OPTION_CHOICE,
     .offset = AT(align),
     .choices = choices_align,
     .help = "normalize each item: its position (center), position and size (size), position and "
             "slant of images (deskew), or position and rotation (principal)"},
    END};
const option_group group_transform = {"Transforms (applied in this order, and stored in the model)",
                                      transform_options};
