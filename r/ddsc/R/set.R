# Creates sets of items.

ddsc_set <- function(x, ...) UseMethod("ddsc_set")

ddsc_set.ddsc_set <- function(x, ...) {
  no_more(list(...), "a set of items", character())
  x
}

ddsc_set.default <- function(x, ...) {
  fail("items cannot be made from a ", class(x)[1], "; expected a list of matrices, a data frame ",
       "with an id column, a SingleCellExperiment, or the path of a file")
}

ddsc_set.matrix <- function(x, ...) {
  fail("a matrix is a single item; expected a list of matrices, one per item. Distances between ",
       "items must be passed as a dist object")
}

ddsc_set.character <- function(x, ...) ddsc_read(x, ...)

# Creates a set from one matrix per item, with one row per point.
ddsc_set.list <- function(x, weights = NULL, labels = NULL, titles = NULL, meta = NULL,
                          on_empty = "error", compress = NULL, ...) {
  no_more(list(...), "a list", c("weights", "labels", "titles", "meta", "on_empty", "compress",
                                 TRANSFORMS))
  if (!length(x)) fail("the list has no items")
  dims <- vapply(seq_along(x), function(i) item_width(x, i), 0L)
  if (any(dims != dims[1])) {
    other <- which(dims != dims[1])[1]
    fail(item_name(x, other), " has ", dims[other], " columns, but ", item_name(x, 1), " has ",
         dims[1])
  }
  sizes <- vapply(x, nrow, 0L)
  if (sum(as.double(sizes)) > .Machine$integer.max) {
    fail("the items have ", format(sum(as.double(sizes)), big.mark = ","), " points in total, more ",
         "than an R matrix can hold; write them to a file and use ddsc_read()")
  }
  columns <- colnames(x[[1]])
  points <- do.call(rbind, lapply(unname(x), function(item) {
    if (!is.null(columns) && !is.null(colnames(item)) && !identical(colnames(item), columns)) {
      if (!setequal(colnames(item), columns)) return(NULL)
      item <- item[, columns, drop = FALSE]
    }
    unname(item)
  }))
  if (nrow(points) != sum(sizes)) {
    other <- which(!vapply(x, function(item) {
      is.null(colnames(item)) || setequal(colnames(item), columns)
    }, NA))[1]
    fail(item_name(x, other), " has different column names from ", item_name(x, 1))
  }
  make_set(points, unlist(weights_of(weights, sizes)), sizes, ids = names(x),
           coordinates = columns, labels = labels, titles = titles, meta = meta,
           on_empty = on_empty, compress = compress, transforms = list(...))
}

# Creates a set from a table with one row per point and a column that identifies the item.
ddsc_set.data.frame <- function(x, id = "id", columns = NULL, weight = NULL, label = NULL,
                                meta = NULL, on_empty = "error", compress = NULL, ...) {
  no_more(list(...), "a data frame",
          c("id", "columns", "weight", "label", "meta", "on_empty", "compress", TRANSFORMS))
  x <- as.data.frame(x)
  for (name in c(id, weight, label, columns, meta)) {
    if (!name %in% names(x)) {
      fail("the data frame has no column \"", name, "\"", did_you_mean(name, names(x)))
    }
  }
  groups <- group_rows(x[id])
  used <- c(id, weight, label, meta)
  if (is.null(columns)) {
    columns <- setdiff(names(x)[vapply(x, is.numeric, NA)], used)
    if (!length(columns)) fail("the data frame has no numeric columns other than ", toString(used))
  }
  wrong <- columns[!vapply(x[columns], is.numeric, NA)]
  if (length(wrong)) fail("column \"", wrong[1], "\" is not numeric")
  rest <- if (is.null(meta)) setdiff(names(x), c(used, columns)) else meta
  points <- as.matrix(x[groups$order, columns, drop = FALSE])
  weights <- if (!is.null(weight)) x[[weight]][groups$order]
  labels <- if (!is.null(label)) item_column(x[[label]], groups, label)
  make_set(points, weights, groups$sizes, ids = groups$ids, coordinates = columns, labels = labels,
           meta = item_columns(x[rest], groups, required = !is.null(meta)), on_empty = on_empty,
           compress = compress, transforms = list(...))
}

# Creates a set from cells. Columns of colData that are constant within samples become metadata.
ddsc_set.SingleCellExperiment <- function(x, id, reduced = NULL, assay = NULL, label = NULL,
                                          genes = NULL, ...) {
  for (package in c("SingleCellExperiment", "SummarizedExperiment")) {
    if (!requireNamespace(package, quietly = TRUE)) fail("the package ", package, " is missing")
  }
  about <- as.data.frame(SummarizedExperiment::colData(x))
  if (missing(id)) {
    fail("id is missing: it names the column of colData that identifies the item of a cell")
  }
  for (name in c(id, label)) {
    if (!name %in% names(about)) {
      fail("colData has no column \"", name, "\"", did_you_mean(name, names(about)))
    }
  }
  cells <- cell_matrix(x, reduced, assay, genes)
  groups <- group_rows(about[id])
  rest <- setdiff(names(about), c(id, label))
  args <- list(...)
  known <- c("on_empty", "compress", TRANSFORMS)
  no_more(args, "a SingleCellExperiment",
          c("id", "reduced", "assay", "label", "genes", known))
  own <- args[intersect(names(args), c("on_empty", "compress"))]
  do.call(make_set, c(
    list(points = cells[groups$order, , drop = FALSE], weights = NULL, sizes = groups$sizes,
         ids = groups$ids, coordinates = colnames(cells),
         labels = if (!is.null(label)) item_column(about[[label]], groups, label),
         meta = item_columns(about[rest], groups, required = FALSE),
         transforms = args[setdiff(names(args), names(own))]), own))
}

cell_matrix <- function(x, reduced, assay, genes) {
  if (!is.null(reduced)) {
    known <- SingleCellExperiment::reducedDimNames(x)
    if (!reduced %in% known) {
      fail("there is no reduced dimension \"", reduced, "\"", did_you_mean(reduced, known))
    }
    return(as.matrix(SingleCellExperiment::reducedDim(x, reduced)))
  }
  known <- SummarizedExperiment::assayNames(x)
  if (is.null(assay)) assay <- if ("logcounts" %in% known) "logcounts" else known[1]
  if (!assay %in% known) fail("there is no assay \"", assay, "\"", did_you_mean(assay, known))
  if (!is.null(genes)) x <- x[genes, ]
  if (nrow(x) > 1000) {
    fail("the assay has ", nrow(x), " rows; use reduced = \"PCA\", or select rows with genes")
  }
  t(as.matrix(SummarizedExperiment::assay(x, assay)))
}

ddsc_read <- function(path, ..., labels = NULL, id = NULL, label = NULL, weight = NULL,
                      columns = NULL, drop = NULL, where = NULL, meta = NULL,
                      item_columns = NULL, channels = NULL, matrix = NULL, as = "pixels",
                      on_empty = "error", compress = NULL) {
  own <- list(labels = labels, id = id, label = label, weight = weight, columns = columns,
              drop = drop, where = where, meta = meta, item_columns = item_columns,
              channels = channels, matrix = matrix)
  more <- list(...)
  no_more(more, "a file", c(names(own), "as", "on_empty", "compress", TRANSFORMS))
  own <- lapply(Filter(Negate(is.null), own), function(value) {
    if (!is.character(value) || anyNA(value)) fail("columns and files must be given by name")
    paste(value, collapse = ",")
  })
  for (file in intersect(names(own), c("labels", "meta"))) own[[file]] <- path.expand(own[[file]])
  own$as <- choice("as", as)
  own$on_empty <- choice("on_empty", on_empty)
  steps <- do.call(transform_settings, more)
  if (!is.null(steps$batch)) own$batch <- steps$batch
  pointer <- answer_of(.Call(C_r_set_read, run_of(), expand(path), own))
  finish_set(pointer, steps, compress)
}

ddsc_write <- function(x, path, overwrite = FALSE) {
  if (!inherits(x, "ddsc_set")) fail("x must be a set; use ddsc_save() for a result")
  if (!is_flag(overwrite)) fail("overwrite must be TRUE or FALSE")
  answer_of(.Call(C_r_set_write, x$pointer, expand(path)[1], overwrite))
  invisible(path)
}

# ---- parts ----

# Stops if there are arguments that the input does not accept.
no_more <- function(args, input, known) {
  wrong <- setdiff(names(args), known)
  if (length(wrong)) {
    fail("there is no argument \"", wrong[1], "\" for ", input, did_you_mean(wrong[1], known))
  }
  if (length(args) && (is.null(names(args)) || any(names(args) == ""))) {
    fail("arguments after the first must be named")
  }
}

item_name <- function(x, i) {
  name <- names(x)[i]
  if (is.null(name) || is.na(name) || !nzchar(name)) {
    paste("item", i)
  } else {
    paste0("item ", i, " (\"", name, "\")")
  }
}

# Returns the number of columns of item i, after checks that do not read its values.
item_width <- function(x, i) {
  item <- x[[i]]
  if (is.data.frame(item)) fail(item_name(x, i), " is a data frame; use as.matrix()")
  if (!is.matrix(item) || !is.numeric(item)) {
    fail(item_name(x, i), " is ", shown_type(item), ", not a numeric matrix with a row per point")
  }
  if (nrow(item) == 0) {
    fail(item_name(x, i), " has no rows; remove it, because an item needs at least one point")
  }
  if (ncol(item) == 0) fail(item_name(x, i), " has no columns")
  ncol(item)
}

shown_type <- function(item) {
  if (is.matrix(item)) return(paste("a matrix of type", typeof(item)))
  paste("of class", class(item)[1])
}

weights_of <- function(weights, sizes) {
  if (is.null(weights)) return(NULL)
  if (!is.list(weights) || length(weights) != length(sizes)) {
    fail("weights must be a list with one vector per item")
  }
  wrong <- which(lengths(weights) != sizes | !vapply(weights, is.numeric, NA))[1]
  if (!is.na(wrong)) {
    fail("the weights of item ", wrong, " must be ", sizes[wrong], " numbers, one per row")
  }
  weights
}

# Returns the rows of each item, in the order of first appearance, as in the program.
group_rows <- function(columns) {
  for (name in names(columns)) {
    if (anyNA(columns[[name]])) {
      fail("column \"", name, "\", row ", which(is.na(columns[[name]]))[1], ": the id is missing")
    }
  }
  keys <- do.call(paste, c(lapply(columns, as.character), sep = "/"))
  ids <- unique(keys)
  item <- match(keys, ids)
  order <- order(item)
  list(ids = ids, item = item, order = order, sizes = tabulate(item, length(ids)),
       first = match(ids, keys))
}

# Returns the value of each item, which must be the same in all rows of the item.
item_column <- function(values, groups, name) {
  same <- same_within(values, groups)
  if (!all(same)) {
    row <- which(!same)[1]
    fail("column \"", name, "\" has several values in item \"", groups$ids[groups$item[row]], "\"")
  }
  values[groups$first]
}

same_within <- function(values, groups) {
  first <- values[groups$first][groups$item]
  (is.na(values) & is.na(first)) | (!is.na(values) & !is.na(first) & values == first)
}

item_columns <- function(frame, groups, required) {
  keep <- vapply(frame, function(values) {
    is.atomic(values) && all(same_within(values, groups))
  }, NA)
  if (required && !all(keep)) {
    fail("column \"", names(frame)[!keep][1], "\" does not have one value per item")
  }
  frame[groups$first, keep, drop = FALSE]
}

# `points` has rows sorted by item.
make_set <- function(points, weights, sizes, ids = NULL, coordinates = NULL, labels = NULL,
                     titles = NULL, meta = NULL, on_empty = "error", compress = NULL,
                     transforms = list()) {
  steps <- do.call(transform_settings, transforms)
  offsets <- c(0, cumsum(as.double(sizes)))
  check_finite(points, offsets, ids)
  if (!is.null(weights)) check_weights(weights, offsets, ids, on_empty)
  if (anyDuplicated(ids)) fail("the id \"", ids[anyDuplicated(ids)], "\" occurs twice")
  if (!is.null(ids) && (anyNA(ids) || any(ids == ""))) {
    fail("item ", which(is.na(ids) | ids == "")[1], " has no name, but other items have names")
  }
  storage.mode(points) <- "double"
  if (!is.null(weights)) storage.mode(weights) <- "double"
  pointer <- answer_of(.Call(C_r_set_arrays, run_of(), points, weights, offsets,
                             choice("on_empty", on_empty)))
  n <- length(sizes)
  classes <- one_per_item("labels", labels, n)
  labels <- if (!is.null(classes)) {
    codes <- match(classes, unique(classes[!is.na(classes)])) - 1L
    ifelse(is.na(codes), -1L, codes)
  }
  meta <- meta_of(meta, n)
  shown <- if (is.null(ids)) as.character(seq_len(n)) else enc2utf8(ids)
  answer_of(.Call(C_r_set_describe, pointer, shown, labels,
                  if (!is.null(coordinates)) enc2utf8(as.character(coordinates)),
                  one_per_item("titles", titles, n), names(meta),
                  if (!is.null(meta)) c(t(as.matrix(meta)))))
  finish_set(pointer, steps, compress, named = !is.null(ids), classes = classes)
}

one_per_item <- function(name, values, n) {
  if (is.null(values)) return(NULL)
  if (!is.atomic(values) && !is.factor(values)) fail(name, " must be a vector")
  if (length(values) != n) fail(name, " has ", length(values), " values for ", n, " items")
  as.character(values)
}

meta_of <- function(meta, n) {
  if (is.null(meta)) return(NULL)
  if (!is.data.frame(meta) || nrow(meta) != n) {
    fail("meta must be a data frame with one row per item (", n, ")")
  }
  if (!ncol(meta)) return(NULL)
  as.data.frame(lapply(meta, as.character), optional = TRUE)
}

check_finite <- function(points, offsets, ids) {
  bad <- which(!is.finite(points))[1]
  if (is.na(bad)) return(invisible())
  row <- (bad - 1) %% nrow(points) + 1
  column <- (bad - 1) %/% nrow(points) + 1
  item <- findInterval(row - 1, offsets)
  fail(item_name(stats::setNames(ids, ids), item), ": row ", row - offsets[item], ", column ",
       if (is.null(colnames(points))) column else paste0("\"", colnames(points)[column], "\""),
       " is ", points[bad], "; coordinates must be finite numbers")
}

check_weights <- function(weights, offsets, ids, on_empty) {
  if (!is.numeric(weights)) fail("weights must be numbers")
  bad <- which(!is.finite(weights) | weights < 0)[1]
  if (!is.na(bad)) {
    item <- findInterval(bad - 1, offsets)
    fail(item_name(stats::setNames(ids, ids), item), ": weight ", bad - offsets[item], " is ",
         weights[bad], "; weights must be finite and non-negative")
  }
  mass <- diff(c(0, cumsum(weights))[offsets + 1])
  if (any(mass == 0) && identical(on_empty, "error")) {
    fail(item_name(stats::setNames(ids, ids), which(mass == 0)[1]), ": all weights are zero; ",
         "remove it, or use on_empty = \"drop\"")
  }
}

finish_set <- function(pointer, steps, compress, named = NULL, classes = NULL) {
  if (length(steps)) answer_of(.Call(C_r_set_transform, pointer, steps))
  if (!is.null(compress)) {
    answer_of(.Call(C_r_set_compress, pointer, whole("compress", compress, 1)))
  }
  new_set(pointer, named, classes)
}

new_set <- function(pointer, named = NULL, classes = NULL) {
  view <- .Call(C_r_set_view, pointer)
  # If there are no ids, the library numbers the rows from 0.
  if (is.null(named)) named <- !identical(view$ids, as.character(seq_along(view$ids) - 1L))
  view$meta <- as.data.frame(view$meta, optional = TRUE)
  structure(c(list(pointer = pointer, ids = if (named) view$ids),
              view[c("dim", "sizes", "rows", "coordinates", "transforms", "meta")],
              list(labels = if (is.null(classes)) view$labels else classes)),
            class = "ddsc_set")
}

# ---- methods ----

length.ddsc_set <- function(x) length(unclass(x)$sizes)

names.ddsc_set <- function(x) {
  x <- unclass(x)
  x$ids[x$rows]
}

`$.ddsc_set` <- function(x, name) unclass(x)[[name]]

`[[.ddsc_set` <- function(x, i) {
  if (is.character(i)) i <- match(i, names(x))
  if (length(i) != 1 || is.na(i)) fail("there is no such item")
  item <- .Call(C_r_set_item, x$pointer, as.integer(i))
  colnames(item$points) <- x$coordinates
  structure(item$points, weights = item$weights)
}

`[.ddsc_set` <- function(x, i) {
  numbers <- stats::setNames(seq_len(length(x)), names(x))[i]
  if (anyNA(numbers)) fail("the selection names items that do not exist")
  if (anyDuplicated(numbers)) fail("an item is selected twice")
  if (!length(numbers)) fail("the selection has no items")
  pointer <- answer_of(.Call(C_r_set_subset, run_of(), x$pointer, as.integer(numbers)))
  new_set(pointer, !is.null(x$ids), if (!is.null(x$labels)) x$labels[x$rows[numbers]])
}

as.list.ddsc_set <- function(x, ...) {
  stats::setNames(lapply(seq_len(length(x)), function(i) x[[i]]), names(x))
}

print.ddsc_set <- function(x, ...) {
  n <- length(x)
  range <- range(x$sizes)
  cat(format(n, big.mark = ","), if (n == 1) " item" else " items", " in ", x$dim,
      if (x$dim == 1) " dimension, " else " dimensions, ",
      if (range[1] == range[2]) range[1] else paste(range[1], "to", range[2]),
      " points per item\n", sep = "")
  if (!is.null(x$coordinates)) cat("  coordinates: ", listed(x$coordinates), "\n", sep = "")
  if (!is.null(x$ids)) cat("  items: ", listed(names(x)), "\n", sep = "")
  if (!is.null(x$labels)) cat("  classes: ", listed(unique(x$labels)), "\n", sep = "")
  if (ncol(x$meta)) cat("  metadata: ", listed(colnames(x$meta)), "\n", sep = "")
  if (length(x$transforms)) cat("  transforms: ", listed(x$transforms), "\n", sep = "")
  invisible(x)
}

listed <- function(words, most = 6) {
  paste0(paste(utils::head(words, most), collapse = ", "),
         if (length(words) > most) paste0(", ... (", length(words), ")"))
}
