clouds <- function(n = 40, separation = 4, seed = 1) {
  set.seed(seed)
  lapply(seq_len(n), function(i) {
    matrix(rnorm(2 * sample(10:15, 1), separation * (i %% 2)), ncol = 2)
  })
}

# The program of the same library; tests that compare with it are skipped without it.
program <- function() {
  path <- Sys.getenv("DDSC")
  if (!nzchar(path) || !file.exists(path)) testthat::skip("DDSC does not name the program")
  path
}

data_file <- function(...) {
  path <- file.path(Sys.getenv("DDSC_DATA"), ...)
  if (!nzchar(Sys.getenv("DDSC_DATA")) || !file.exists(path)) {
    testthat::skip("DDSC_DATA does not name the folder of the data sets")
  }
  path
}

run_program <- function(...) {
  status <- system2(program(), shQuote(c(...)), stdout = FALSE, stderr = FALSE)
  testthat::expect_equal(status, 0)
}

bytes_of <- function(file) readBin(file, "raw", file.size(file))
