/* The options of tables: which column is what. */
#include "options.h"

#define AT(field) offsetof(cli_options, read.field)

static const option_spec table_options[] = {
    {.name = "id",
     .kind = OPTION_TEXT,
     .offset = AT(id_columns),
     .argument = "COLUMN,...",
     .help = "column that names the item of a row; several are joined by / (default: id)"},
    {.name = "columns",
     .kind = OPTION_TEXT,
     .offset = AT(columns),
     .argument = "LIST",
     .help = "the coordinates: names separated by commas; * and ? stand for any characters, as in "
             "'CD*' (default: all columns of numbers); fcs files too"},
    {.name = "drop",
     .kind = OPTION_TEXT,
     .offset = AT(drop),
     .argument = "LIST",
     .help = "columns that are no coordinates, named in the same way; fcs files too"},
    {.name = "weight",
     .kind = OPTION_TEXT,
     .offset = AT(weight_column),
     .argument = "COLUMN",
     .help = "column of the points' weights (default: weight, if there is one)"},
    {.name = "label",
     .kind = OPTION_TEXT,
     .offset = AT(label_column),
     .argument = "COLUMN",
     .help = "column of the items' classes (default: label, if there is one)"},
    {.name = "where",
     .kind = OPTION_OTHER,
     .parse = value_where,
     .argument = "COLUMN=VALUE",
     .help = "only rows that have this value"},
    {.name = NULL}};
const option_group group_table = {"Tables (csv, tsv)", table_options};
