# Labels of R and of the program are equal, byte for byte.

compare <- function(input, k, metric, set, words = character()) {
  folder <- tempfile()
  dir.create(folder)
  theirs <- file.path(folder, "program")
  ours <- file.path(folder, "r")
  run_program("cluster", input, "-k", k, "-m", metric, words, "-o", theirs)
  model <- ddsc(set, k, metric)
  ddsc_save(model, ours)
  expect_identical(bytes_of(file.path(ours, "labels.csv")),
                   bytes_of(file.path(theirs, "labels.csv")))
  expect_identical(unname(model$labels), read.csv(file.path(theirs, "labels.csv"))$label)
  invisible(model)
}

test_that("labels of shapes are the program's", {
  file <- tempfile(fileext = ".npz")
  run_program("generate", "shapes", "-o", file)
  set <- ddsc_read(file)
  for (metric in c("w2", "w1", "sinkhorn", "mmd", "lot")) compare(file, 2, metric, set)
  # The same points from R's own matrices give the same labels.
  expect_identical(unname(ddsc(as.list(set), 2)$labels), unname(ddsc(set, 2)$labels))
})

test_that("labels of 1,000 digits are the program's", {
  file <- tempfile(fileext = ".npz")
  images <- data_file("mnist", "t10k-images-idx3-ubyte.gz")
  labels <- data_file("mnist", "t10k-labels-idx1-ubyte.gz")
  run_program("convert", images, "--labels", labels, "--subset-per-class", "100", "--seed", "1",
              "-o", file)
  set <- ddsc_read(file)
  expect_length(set, 1000)
  model <- compare(file, 10, "mmd", set)
  expect_gt(model$scores[["ami"]], 0.6)
  compare(file, 10, "w2", set)
})

test_that("labels of BBC documents are the program's", {
  file <- tempfile(fileext = ".npz")
  run_program("text", data_file("text", "bbc.tsv.gz"), "-o", file)
  compare(file, 5, "w2", ddsc_read(file))
})

test_that("labels of blood samples are the program's", {
  cells <- data_file("cytometry", "pbmc8-bcrxl.tsv.gz")
  set <- ddsc_read(cells, id = "sample", label = "condition", drop = "patient", arcsinh = 5)
  compare(cells, 2, "mmd", set, c("--id", "sample", "--label", "condition", "--drop", "patient",
                                  "--arcsinh", "5"))
  # A data frame of R has the same cells.
  frame <- read.delim(cells, check.names = FALSE)
  own <- ddsc(frame, 2, "mmd", id = "sample", label = "condition",
              columns = setdiff(names(frame), c("sample", "condition", "patient")), arcsinh = 5)
  expect_identical(own$labels, ddsc(set, 2, "mmd")$labels)
})
