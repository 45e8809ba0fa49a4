refuses <- function(expression, words) {
  expect_error(expression, words, fixed = TRUE, class = "ddsc_error")
}

test_that("bad items are refused with a message that names them", {
  x <- clouds(6)
  bad <- function(i, item) {
    x[[i]] <- item
    x
  }
  wrong <- x[[3]]
  wrong[2, 1] <- NA
  refuses(ddsc(bad(3, wrong), 2), "item 3: row 2, column 1 is NA")
  wrong[2, 1] <- NaN
  refuses(ddsc(bad(3, wrong), 2), "item 3: row 2, column 1 is NaN")
  wrong[2, 1] <- -Inf
  refuses(ddsc(bad(3, wrong), 2), "item 3: row 2, column 1 is -Inf")
  refuses(ddsc(bad(3, wrong[0, ]), 2), "item 3 has no rows")
  refuses(ddsc(bad(3, wrong[, 0]), 2), "item 3 has no columns")
  refuses(ddsc(bad(3, cbind(wrong, 1)), 2), "item 3 has 3 columns, but item 1 has 2")
  refuses(ddsc(bad(3, 1:4), 2), "item 3 is of class integer")
  refuses(ddsc(bad(3, NULL), 7), "7 clusters") # R removes the element
  refuses(ddsc(bad(3, matrix("a", 2, 2)), 2), "type character")
  refuses(ddsc(bad(3, matrix(1i, 2, 2)), 2), "type complex")
  refuses(ddsc(bad(3, data.frame(a = 1)), 2), "as.matrix()")
  refuses(ddsc(list(), 2), "no items")
  refuses(ddsc(NULL, 2), "from a NULL")
  refuses(ddsc(x[[1]], 2), "a single item")
  names(x) <- c("a", "a", "c", "d", "e", "f")
  refuses(ddsc(x, 2), "the id \"a\" occurs twice")
  names(x)[2] <- ""
  refuses(ddsc(x, 2), "item 2 has no name")
})

test_that("integer matrices and logical-free input are numbers", {
  x <- lapply(1:12, function(i) matrix(c(1:4 + 9L * (i %% 2L)), ncol = 2))
  expect_equal(ddsc(x, 2)$k, 2)
})

test_that("weights are checked", {
  x <- clouds(6)
  w <- lapply(x, function(item) rep(1, nrow(item)))
  expect_equal(c(ddsc_dist(x, weights = w)), c(ddsc_dist(x)))
  refuses(ddsc_set(x, weights = w[1:2]), "one vector per item")
  refuses(ddsc_set(x, weights = 1), "one vector per item")
  v <- w
  v[[2]] <- v[[2]][-1]
  refuses(ddsc_set(x, weights = v), "the weights of item 2 must be")
  v <- w
  v[[2]][3] <- -1
  refuses(ddsc_set(x, weights = v), "item 2: weight 3 is -1")
  v[[2]][3] <- NA
  refuses(ddsc_set(x, weights = v), "item 2: weight 3 is NA")
  v[[2]][] <- 0
  refuses(ddsc_set(x, weights = v), "item 2: all weights are zero")
  set <- ddsc_set(x, weights = v, on_empty = "drop")
  expect_length(set, 5)
  model <- ddsc(set, 2)
  expect_equal(unname(model$labels), c(0, -1, 0, 1, 0, 1))
  expect_true(is.na(model$cluster[2]))
})

test_that("wrong arguments are refused, with a suggestion", {
  x <- clouds(6)
  refuses(ddsc(x, 2, "wasserstein"), "did you mean \"w2\"?")
  refuses(ddsc(x, 2, "mdm"), "did you mean \"mmd\"?")
  refuses(ddsc(x, 2, "w2+w2"), "appears twice")
  refuses(ddsc(x, 2, 3), "one word")
  refuses(ddsc(x, 2, gama = 1), "did you mean \"gamma\"?")
  refuses(ddsc(x, 2, weigths = 1), "did you mean \"weights\"?")
  refuses(ddsc(x, 2, "w2", 3), "must be named")
  refuses(ddsc(x, 0), "at least 1")
  refuses(ddsc(x, 2.5), "whole number")
  refuses(ddsc(x, NA), "k must be")
  refuses(ddsc(x, c(3, 2)), "range is empty")
  refuses(ddsc(x, 2, epsilon = "a%"), "percentage")
  refuses(ddsc(x, 2, cost = matrix(1:6, 2)), "square")
  refuses(ddsc(x, 2, "lot", cost = "cityblock"), "cost")
  refuses(ddsc(x, 2, threads = -1), "threads")
  refuses(ddsc(x, 2, seed = 0.5), "seed")
  refuses(ddsc_dist(x, "w2+mmd"), "joined")
  refuses(ddsc(diag(3)[, 1:2], 2, "precomputed"), "square")
  refuses(ddsc(matrix(1:9, 3), 2, "precomputed"), "not symmetric")
})

test_that("messages name arguments of R", {
  x <- clouds(8)
  file <- tempfile(fileext = ".csv")
  writeLines(c("a,b", "1,2"), file)
  refuses(ddsc_read(file), "(id = COLUMN)")
  expect_warning(ddsc(x, 2, n_neighbors = 50), "^n_neighbors = 50, .*reduce n_neighbors$",
                 class = "ddsc_warning")
  ddsc_write(ddsc_set(x), file, overwrite = TRUE)
  refuses(ddsc_write(ddsc_set(x), file), "pass overwrite = TRUE")
  refuses(ddsc_set(x, pca = 3), "pca = 3: the points have 2 coordinates")
  expect_equal(ddsc:::in_r_terms("a--b.csv: use --min-cluster 0 or --normalize rank"),
               "a--b.csv: use min_cluster 0 or normalize = \"rank\"")
})

test_that("messages have no names of internal functions", {
  for (wrong in list(quote(ddsc(clouds(6), 7)), quote(ddsc(clouds(6), 2, "lot", cost = "cityblock")),
                     quote(ddsc_read("none.csv")))) {
    message <- conditionMessage(tryCatch(eval(wrong), error = identity))
    expect_false(grepl("^(measures|cluster|metric|ddsc_\\w+):", message), info = message)
  }
})

test_that("a data frame has a row per point", {
  frame <- data.frame(id = rep(c("b", "a"), c(3, 2)), x = 1:5, y = 5:1, w = c(1, 1, 2, 1, 1),
                      site = rep(c("n", "s"), c(3, 2)), note = letters[1:5])
  set <- ddsc_set(frame[c(4, 1, 2, 5, 3), ], weight = "w")
  expect_equal(names(set), c("a", "b"))
  expect_equal(set$coordinates, c("x", "y"))
  expect_equal(attr(set[["b"]], "weights"), c(0.25, 0.25, 0.5))
  expect_equal(set$meta, data.frame(site = c("s", "n")))
  expect_output(print(set), "2 items in 2 dimensions, 2 to 3 points per item")
  refuses(ddsc_set(frame, id = "idd"), "did you mean \"id\"?")
  refuses(ddsc_set(frame, columns = "site"), "not numeric")
  refuses(ddsc_set(frame, label = "note"), "several values in item \"b\"")
  refuses(ddsc_set(frame, meta = "note"), "one value per item")
  frame$id[2] <- NA
  refuses(ddsc_set(frame), "row 2: the id is missing")
})

test_that("sets can be taken apart and written", {
  x <- clouds(6)
  names(x) <- letters[1:6]
  set <- ddsc_set(x, labels = rep(c("u", "v"), 3), titles = LETTERS[1:6])
  expect_length(set, 6)
  expect_equal(names(set[c("b", "d")]), c("b", "d"))
  expect_equal(set[2:3]$labels, c("v", "u"))
  part <- set[c("b", "d")]
  rm(set)
  gc()
  expect_equal(unclass(part[["d"]])[, ], x$d[order(match(x$d[, 1], part[["d"]][, 1])), ])
  refuses(part[3], "do not exist")
  refuses(part[["x"]], "no such item")
  file <- tempfile(fileext = ".npz")
  ddsc_write(part, file)
  refuses(ddsc_write(part, file), "exist")
  expect_equal(names(ddsc_read(file)), c("b", "d"))
})

test_that("transforms are fitted once and applied to new items", {
  x <- clouds(20)
  set <- ddsc_set(x, arcsinh = 5, normalize = "standard", pca = 1)
  expect_equal(set$transforms, c("arcsinh", "standard", "pca"))
  expect_equal(set$dim, 1)
  model <- ddsc(set, 2)
  expect_equal(predict(model, x), unname(model$labels))
  refuses(ddsc_set(x, normalise = "rank"), "did you mean \"normalize\"?")
  refuses(ddsc_set(x, normalize = "ranks"), "did you mean \"rank\"?")
})

test_that("cells of a SingleCellExperiment are items by sample", {
  skip_if_not_installed("SingleCellExperiment")
  set.seed(2)
  n <- 200
  sample <- rep(paste0("p", 1:10), each = 20)
  shift <- 4 * (as.integer(factor(sample)) %% 2)
  counts <- matrix(rnorm(3 * n), 3) + rep(shift, each = 3)
  rownames(counts) <- c("CD3", "CD4", "CD8")
  about <- data.frame(sample, site = ifelse(shift > 0, "n", "s"), cell = seq_len(n))
  cells <- SingleCellExperiment::SingleCellExperiment(
    assays = list(logcounts = counts), colData = about,
    reducedDims = list(PCA = t(counts)[, 1:2])
  )
  set <- ddsc_set(cells, id = "sample", label = "site")
  expect_equal(set$coordinates, rownames(counts))
  expect_length(set, 10)
  model <- ddsc(cells, 2, id = "sample", label = "site", reduced = "PCA")
  expect_equal(model$scores[["ami"]], 1)
  expect_equal(unname(model$labels),
               unname(ddsc(data.frame(id = sample, t(counts)[, 1:2]), 2)$labels))
  refuses(ddsc_set(cells), "id is missing")
  refuses(ddsc_set(cells, id = "smaple"), "did you mean \"sample\"?")
  refuses(ddsc_set(cells, id = "sample", reduced = "pca"), "did you mean \"PCA\"?")
})
