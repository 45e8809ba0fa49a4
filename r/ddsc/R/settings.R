# Checks the arguments of ddsc() and related functions and converts them to the names and
# codes of the C code, which defines the words of each choice (src/settings.c).

COUNTS <- c("max_iterations", "mmd_features", "reference_size", "lot_components", "n_neighbors",
            "restarts")
NUMBERS <- c("tolerance", "sample", "sample_columns", "min_cluster")
CHOICES <- c("sinkhorn_value", "mmd_kernel", "mmd_estimator", "reference", "neighbors", "hubs",
             "refine")
METRIC_SETTINGS <- c("cost", "epsilon", "bandwidth", "paper", "tolerance", "max_iterations",
                     "sinkhorn_value", "mmd_kernel", "mmd_estimator", "mmd_features", "reference",
                     "reference_size", "lot_components")
CLUSTER_SETTINGS <- c(METRIC_SETTINGS, "n_neighbors", "neighbors", "hubs", "sample",
                      "sample_columns", "gamma", "min_cluster", "restarts", "refine")
TRANSFORMS <- c("arcsinh", "logicle", "log1p", "batch", "normalize", "pca", "per_item", "align")

# Other common names of the metrics.
ALSO_CALLED <- c(wasserstein = "w2", wasserstein2 = "w2", emd = "w2", ot = "w2",
                 earthmover = "w2", wasserstein1 = "w1", wmd = "w1", entropic = "sinkhorn",
                 kernel = "mmd", energy = "mmd", linear = "lot")

choices <- local({
  known <- NULL
  function() {
    if (is.null(known)) known <<- .Call(C_r_choices)
    known
  }
})

# Returns the code of a word.
choice <- function(name, value, table = name) {
  codes <- choices()[[table]]
  codes <- codes[setdiff(names(codes), c("value", "matrix"))]
  if (is_string(value) && value %in% names(codes)) return(codes[[value]])
  fail(name, " = ", shown(value), ": must be one of ", paste(names(codes), collapse = ", "),
       if (is_string(value)) did_you_mean(value, names(codes)))
}

metric_codes <- function(metric) {
  if (!is_string(metric)) fail("metric must be one word, such as \"w2\"")
  words <- strsplit(metric, "+", fixed = TRUE)[[1]]
  if (anyDuplicated(words)) fail("metric = \"", metric, "\": a metric appears twice")
  vapply(words, function(word) {
    meant <- ALSO_CALLED[gsub("[^a-z0-9]", "", tolower(word))]
    if (!is.na(meant) && !word %in% names(choices()$metric)) {
      fail("metric = \"", word, "\": did you mean \"", meant, "\"?")
    }
    choice("metric", word)
  }, 0L, USE.NAMES = FALSE)
}

# Converts a number, or a word that selects a rule, to list(NAME_rule = code, NAME = number).
rule_or_number <- function(name, value) {
  table <- paste0(name, "_rule")
  if (is.numeric(value)) {
    codes <- choices()[[table]]
    setNames(list(codes[["value"]], number(name, value, 0)), c(table, name))
  } else {
    setNames(list(choice(name, value, table)), table)
  }
}

epsilon_settings <- function(value) {
  percent <- is_string(value) && grepl("%$", value)
  if (percent) value <- suppressWarnings(as.numeric(sub("%$", "", value)))
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) {
    fail("epsilon must be a number, or a percentage such as \"5%\"")
  }
  list(epsilon = value, epsilon_is_percent = as.integer(percent))
}

cost_settings <- function(value) {
  if (!is.matrix(value)) return(list(cost = choice("cost", value)))
  if (!is.numeric(value) || nrow(value) != ncol(value) || !isSymmetric(unname(value))) {
    fail("a matrix of costs must be numeric, square and symmetric")
  }
  storage.mode(value) <- "double"
  list(cost = choices()$cost[["matrix"]], cost_matrix = value)
}

# Converts a named list of arguments to the list for settings_fill() in C.
settings_of <- function(settings, known) {
  wrong <- setdiff(names(settings), known)
  if (length(wrong)) {
    fail("there is no argument \"", wrong[1], "\"", did_you_mean(wrong[1], known))
  }
  out <- list()
  for (name in names(settings)) {
    value <- settings[[name]]
    if (is.null(value)) next
    out <- c(out, if (name == "epsilon") {
      epsilon_settings(value)
    } else if (name == "cost") {
      cost_settings(value)
    } else if (name %in% c("gamma", "bandwidth")) {
      rule_or_number(name, value)
    } else if (name == "paper") {
      if (!is_flag(value)) fail("paper must be TRUE or FALSE")
      list(paper = as.integer(value), paper_metric = as.integer(value))
    } else if (name %in% COUNTS) {
      setNames(list(whole(name, value, 1)), name)
    } else if (name %in% NUMBERS) {
      setNames(list(number(name, value, 0)), name)
    } else {
      setNames(list(choice(name, value)), name)
    })
  }
  out
}

# Converts k, which is a number, c(low, high) or "auto".
k_settings <- function(k) {
  if (identical(k, "auto")) return(list(k_min = 0, k_max = 0))
  if (!is.numeric(k) || !length(k) %in% 1:2) {
    fail("k must be a number such as 5, a range such as c(2, 10), or \"auto\"")
  }
  k <- vapply(k, function(value) whole("k", value, 1, .Machine$integer.max), 0)
  if (length(k) == 2 && k[2] < k[1]) fail("k: the range is empty")
  list(k_min = k[1], k_max = k[length(k)])
}

# Returns transforms as a list for C. arcsinh and logicle may select coordinates: "CD*=5,p*=1".
transform_settings <- function(arcsinh = NULL, logicle = NULL, log1p = FALSE, batch = NULL,
                               normalize = "none", pca = NULL, per_item = NULL, align = "none") {
  text <- function(value) {
    if (is.numeric(value)) format(number("arcsinh", value, 0), digits = 15) else value
  }
  out <- list()
  if (!is.null(arcsinh)) out$arcsinh <- text(arcsinh)
  if (!is.null(logicle)) out$logicle <- text(logicle)
  if (!is.null(batch)) out$batch <- batch
  for (name in names(out)) {
    if (!is_string(out[[name]])) fail(name, " must be one number or one text")
  }
  if (!is_flag(log1p)) fail("log1p must be TRUE or FALSE")
  if (log1p) out$log1p <- 1L
  if (!identical(normalize, "none")) out$normalize <- choice("normalize", normalize)
  if (!identical(align, "none")) out$align <- choice("align", align)
  if (!is.null(pca)) out$pca <- whole("pca", pca, 1)
  if (!is.null(per_item)) out$per_item <- whole("per_item", per_item, 1)
  out
}
