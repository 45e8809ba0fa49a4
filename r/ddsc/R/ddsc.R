# Defines the function ddsc() and the methods of its result.

ddsc <- function(x, k = "auto", metric = "w2", ..., outliers = FALSE, squared = FALSE, seed = 0,
                 threads = 0, verbose = FALSE) {
  args <- named_args(...)
  settings <- args[names(args) %in% CLUSTER_SETTINGS]
  rest <- args[!names(args) %in% CLUSTER_SETTINGS]
  if (!is_flag(outliers)) fail("outliers must be TRUE or FALSE")
  if (!is_flag(squared)) fail("squared must be TRUE or FALSE")
  run <- run_of(seed, threads, verbose)
  matrix <- distance_matrix(x, metric)
  if (is.null(matrix)) {
    metrics <- metric_codes(metric)
    fields <- c(k_settings(k), settings_of(settings, CLUSTER_SETTINGS), list(metric = metrics[1]))
    if (length(metrics) > 1) fields$joined <- sum(2^metrics[-1])
    data <- input_of(x, rest)
    pointer <- data$pointer
  } else {
    metric <- "precomputed"
    known <- setdiff(CLUSTER_SETTINGS, setdiff(METRIC_SETTINGS, "paper"))
    fields <- c(k_settings(k), settings_of(args, known))
    data <- NULL
    pointer <- matrix
  }
  handle <- answer_of(.Call(C_r_cluster, run, pointer, fields, fields, outliers, squared))
  new_result(handle, data, metric, match.call(), names(x_names(x, matrix)))
}

named_args <- function(...) {
  args <- list(...)
  if (length(args) && (is.null(names(args)) || !all(nzchar(names(args))))) {
    fail("all arguments after metric must be named")
  }
  args
}

# Returns the items of ddsc(), or stops with a hint for misspelled arguments.
input_of <- function(x, args) {
  tryCatch(do.call(ddsc_set, c(list(x), args)), ddsc_bad_argument = function(e) {
    wrong <- sub("^there is no argument \"([^\"]*)\" for .*$", "\\1", conditionMessage(e))
    if (identical(wrong, conditionMessage(e)) || grepl("did you mean", conditionMessage(e))) stop(e)
    fail("there is no argument \"", wrong, "\"", did_you_mean(wrong, CLUSTER_SETTINGS))
  })
}

# Returns distances (a dist object, or a square matrix if metric is "precomputed"), otherwise NULL.
distance_matrix <- function(x, metric) {
  given <- identical(metric, "precomputed")
  if (!inherits(x, "dist") && !given) return(NULL)
  x <- if (inherits(x, "dist")) as.matrix(x) else x
  if (!is.matrix(x) || !is.numeric(x) || nrow(x) != ncol(x)) {
    fail("metric = \"precomputed\" needs a dist object or a square numeric matrix")
  }
  if (!isSymmetric(unname(x))) fail("the matrix of distances is not symmetric")
  storage.mode(x) <- "double"
  x
}

x_names <- function(x, matrix) {
  if (is.null(matrix) || is.null(rownames(matrix))) return(NULL)
  if (inherits(x, "dist") && is.null(attr(x, "Labels"))) return(NULL)
  stats::setNames(seq_len(nrow(matrix)), rownames(matrix))
}

new_result <- function(handle, data, metric, call, ids = NULL) {
  found <- .Call(C_r_result, handle)
  if (is.null(ids)) ids <- data$ids
  labels <- stats::setNames(found$labels, ids)
  cluster <- factor(ifelse(labels < 0, NA, labels), levels = seq_len(found$k) - 1)
  names(cluster) <- ids
  sweep <- as.data.frame(found$sweep)
  names(sweep) <- c("k", "gap", "relative_gap", "modularity", "inertia", "smallest", "largest",
                    "stability")
  items <- read_items(handle)
  structure(list(
    call = call, metric = metric, k = found$k, labels = labels, cluster = cluster,
    sizes = table(cluster, dnn = NULL), verdict = found$verdict, scores = unlist(found$scores),
    map = found$map, embedding = found$embedding, eigenvalues = found$eigenvalues, sweep = sweep,
    items = items, advice = found$advice, converged = found$certified,
    n_components = found$n_components, text = report_text(handle, "brief"), data = data,
    handle = handle
  ), class = "ddsc")
}

read_items <- function(handle) {
  text <- report_text(handle, "items")
  utils::read.csv(text = text, check.names = FALSE, stringsAsFactors = FALSE,
                  colClasses = c(id = "character"), encoding = "UTF-8")
}

report_text <- function(handle, form) answer_of(.Call(C_r_report, handle, form))

print.ddsc <- function(x, ...) {
  cat(x$text)
  invisible(x)
}

summary.ddsc <- function(object, ...) {
  structure(list(text = report_text(object$handle, "text"), advice = object$advice,
                 sizes = object$sizes, verdict = object$verdict), class = "summary.ddsc")
}

print.summary.ddsc <- function(x, ...) {
  cat(x$text)
  if (nzchar(x$advice)) cat("\n", paste(strwrap(x$advice, 90), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

as.data.frame.ddsc <- function(x, row.names = NULL, optional = FALSE, ...) x$items

predict.ddsc <- function(object, newdata, type = c("label", "all"), ..., threads = 0) {
  type <- match.arg(type)
  if (missing(newdata)) return(object$labels)
  new <- if (inherits(newdata, "ddsc_set")) newdata else do.call(ddsc_set, list(newdata, ...))
  out <- answer_of(.Call(C_r_assign, run_of(0, threads), object$handle, new$pointer))
  if (type == "label") return(stats::setNames(out$labels, names(new)))
  data.frame(label = out$labels, confidence = out$confidence, distance = out$distance,
             far = out$far, row.names = if (!is.null(names(new))) make.unique(names(new)))
}

# ---- files ----

ddsc_save <- function(object, path, overwrite = FALSE) {
  if (!inherits(object, "ddsc")) fail("object must be a result of ddsc()")
  if (!is_flag(overwrite)) fail("overwrite must be TRUE or FALSE")
  answer_of(.Call(C_r_save, object$handle, expand(path)[1], overwrite))
  invisible(path)
}

ddsc_load <- function(path) {
  path <- expand(path)[1]
  if (dir.exists(path)) path <- file.path(path, "model.npz")
  handle <- answer_of(.Call(C_r_model_read, run_of(), path))
  view <- .Call(C_r_model_view, handle)
  labels <- stats::setNames(view$labels, view$ids)
  metric <- names(which(choices()$metric == view$metric))
  text <- sprintf("Model of %s items in %d clusters by %s\n",
                  format(length(labels), big.mark = ","), view$k, metric)
  structure(list(metric = metric, k = view$k, labels = labels,
                 cluster = factor(labels, levels = seq_len(view$k) - 1),
                 sizes = table(labels, dnn = NULL), text = text, handle = handle),
            class = c("ddsc_model", "ddsc"))
}

ddsc_report <- function(object, file = NULL, overwrite = FALSE) {
  if (!inherits(object, "ddsc") || inherits(object, "ddsc_model")) {
    fail("object must be a result of ddsc()")
  }
  page <- report_text(object$handle, "html")
  if (is.null(file)) return(page)
  file <- expand(file)[1]
  if (file.exists(file) && !isTRUE(overwrite)) {
    fail(file, " exists; use overwrite = TRUE to replace it")
  }
  writeLines(page, file, sep = "", useBytes = TRUE)
  invisible(file)
}

# ---- distances and scores ----

ddsc_dist <- function(x, metric = "w2", ..., squared = FALSE, seed = 0, threads = 0,
                      verbose = FALSE) {
  call <- distance_call(x, metric, named_args(...), squared, seed, threads, verbose)
  values <- answer_of(.Call(C_r_distance, call$run, call$set$pointer, NULL, call$fields, squared))
  attributes(values) <- list(Size = length(call$set), Labels = names(call$set), Diag = FALSE,
                             Upper = FALSE, method = metric, call = match.call())
  class(values) <- "dist"
  values
}

ddsc_cross <- function(x, y, metric = "w2", ..., squared = FALSE, seed = 0, threads = 0,
                       verbose = FALSE) {
  call <- distance_call(x, metric, named_args(...), squared, seed, threads, verbose)
  other <- ddsc_set(y)
  values <- answer_of(.Call(C_r_distance, call$run, call$set$pointer, other$pointer, call$fields,
                            squared))
  values <- t(values)
  dimnames(values) <- if (!is.null(names(call$set)) || !is.null(names(other))) {
    list(names(call$set), names(other))
  }
  values
}

distance_call <- function(x, metric, args, squared, seed, threads, verbose) {
  if (!is_flag(squared)) fail("squared must be TRUE or FALSE")
  codes <- metric_codes(metric)
  if (length(codes) > 1) fail("only ddsc() accepts joined metrics; there is no joined distance")
  settings <- args[names(args) %in% METRIC_SETTINGS]
  rest <- args[!names(args) %in% METRIC_SETTINGS]
  list(fields = c(settings_of(settings, METRIC_SETTINGS), list(metric = codes)),
       set = input_of(x, rest), run = run_of(seed, threads, verbose))
}

ddsc_scores <- function(labels, truth) {
  if (length(labels) != length(truth)) {
    fail("labels has ", length(labels), " values and truth has ", length(truth))
  }
  codes <- function(values) {
    number <- match(values, unique(values[!is.na(values)])) - 1L
    ifelse(is.na(number), -1L, number)
  }
  values <- answer_of(.Call(C_r_scores, run_of(), codes(labels), codes(truth)))
  stats::setNames(values, c("ami", "ari", "nmi", "purity"))
}
