# Calls the library and signals its conditions.

# Runs a routine and converts its answer into a value, warnings or an error. Errors have the classes
# "ddsc_error" and, for example, "ddsc_bad_input". Ctrl-C is an ordinary R interrupt.
answer_of <- function(answer) {
  for (words in strsplit(answer$warnings, "\n", fixed = TRUE)[[1]]) {
    warning(warningCondition(in_r_terms(words), class = "ddsc_warning"))
  }
  if (answer$interrupted) {
    condition <- structure(class = c("interrupt", "condition"),
                           list(message = "interrupted", call = NULL))
    signalCondition(condition)
    invokeRestart("abort")
  }
  if (answer$status < 0) {
    message <- if (nzchar(answer$message)) answer$message else answer$kind
    message <- in_r_terms(message)
    kind <- paste0("ddsc_", gsub("[^a-z]+", "_", answer$kind))
    stop(errorCondition(message, class = c(kind, "ddsc_error")))
  }
  if (answer$status > 0) {
    warning(warningCondition(
      "an iteration limit was reached; the result is marked as not converged",
      class = c("ddsc_not_converged", "ddsc_warning")
    ))
  }
  answer$value
}

# Returns a message of the library in which R arguments replace options of the program, and
# without the name of the function that failed.
in_r_terms <- function(message) {
  message <- sub(paste0("^(measures|cluster|graph|metric|((transform|read|text) )?settings|model|transform|",
                        "ddsc_\\w+): "), "", message)
  message <- sub("overwriting was not requested", "pass overwrite = TRUE to replace it", message)
  if (grepl("ddsc (text|cluster) ", message)) return(message) # a command of the program
  message <- gsub("\\btau(?= = \\d| \\(--tau\\))", "n_neighbors", message, perl = TRUE)
  message <- gsub("(--tau)", "(n_neighbors)", message, fixed = TRUE)
  option <- "(?<![^\\s(])--[a-z][a-z-]*( (auto|always|drop|rank|robust|standard|[A-Z]+)\\b)?"
  found <- gregexpr(option, message, perl = TRUE)
  regmatches(message, found) <- lapply(regmatches(message, found), function(words) {
    parts <- strsplit(sub("^--", "", words), " ", fixed = TRUE)
    vapply(parts, function(part) {
      name <- gsub("-", "_", part[1], fixed = TRUE)
      if (length(part) == 1) return(name)
      paste0(name, " = ", if (part[2] == toupper(part[2])) part[2] else shown(part[2]))
    }, "")
  })
  gsub("(\\w+) \\(\\1\\)", "\\1", message)
}

fail <- function(...) {
  stop(errorCondition(paste0(...), class = c("ddsc_bad_argument", "ddsc_error")))
}

# Returns the seed, threads and progress setting of one call.
run_of <- function(seed = 0, threads = 0, verbose = FALSE) {
  seed <- whole("seed", seed, 0, 2^53)
  threads <- whole("threads", threads, 0, 4096)
  if (!is_flag(verbose)) fail("verbose must be TRUE or FALSE")
  list(as.double(seed), as.integer(threads), verbose)
}

is_flag <- function(x) is.logical(x) && length(x) == 1 && !is.na(x)
is_string <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

number <- function(name, value, low = -Inf, high = Inf) {
  if (!is.numeric(value) || length(value) != 1 || !is.finite(value)) {
    fail(name, " must be one number, not ", shown(value))
  }
  if (value < low || value > high) {
    fail(name, " = ", format(value), " is out of range: it must be at least ", format(low),
         if (is.finite(high)) paste(" and at most", format(high)))
  }
  value
}

whole <- function(name, value, low, high = 2^53) {
  value <- number(name, value, low, high)
  if (value != round(value)) fail(name, " = ", format(value), " must be a whole number")
  value
}

# Returns a short description of an invalid argument.
shown <- function(value) {
  if (is.character(value) && length(value) == 1) return(paste0("\"", value, "\""))
  if (is.atomic(value) && length(value) == 1) return(format(value))
  paste0("a ", class(value)[1], " of length ", length(value))
}

# Returns the nearest known word as a question, or "".
did_you_mean <- function(word, known) {
  distance <- utils::adist(word, known, ignore.case = TRUE)[1, ]
  best <- which.min(distance)
  if (length(best) && distance[best] <= max(2, nchar(word) %/% 3) &&
      distance[best] < nchar(word)) {
    paste0(" (did you mean \"", known[best], "\"?)")
  } else {
    ""
  }
}

expand <- function(path) {
  if (!is.character(path) || !length(path) || anyNA(path)) fail("expected the path of a file")
  path.expand(path)
}
