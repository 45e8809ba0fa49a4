test_that("a list of matrices is clustered", {
  model <- ddsc(clouds(), 2)
  expect_s3_class(model, "ddsc")
  expect_equal(unname(model$labels), rep(0:1, 20))
  expect_equal(as.integer(model$cluster), rep(1:2, 20))
  expect_equal(dim(model$map), c(40L, 2L))
  expect_equal(nrow(model$items), 40)
  expect_identical(as.data.frame(model), model$items)
  expect_equal(model$verdict$level, "separate")
  expect_true(model$converged)
  expect_output(print(model), "40 items in 2 clusters")
  expect_output(print(summary(model)), "eigengap")
})

test_that("every metric and the joined ones work, with any number of threads", {
  x <- clouds()
  for (metric in c("w2", "w1", "sinkhorn", "mmd", "lot", "w2+mmd")) {
    model <- ddsc(x, 2, metric, threads = 1)
    expect_equal(unname(model$labels), rep(0:1, 20), info = metric)
    expect_identical(model$embedding, ddsc(x, 2, metric, threads = 3)$embedding, info = metric)
  }
  expect_error(predict(ddsc(x, 2, "w2+mmd"), x), class = "ddsc_error")
})

test_that("k is chosen from a range", {
  model <- ddsc(clouds(), c(2, 5))
  expect_equal(model$k, 2)
  expect_equal(model$sweep$k, 2:5)
  expect_equal(ddsc(clouds(), "auto")$k, 2)
})

test_that("settings reach the library", {
  x <- clouds()
  expect_false(identical(ddsc_dist(x, "sinkhorn"), ddsc_dist(x, "sinkhorn", epsilon = "50%")))
  expect_equal(c(ddsc_dist(x, "w1", cost = "cityblock") >= ddsc_dist(x, "w1")), rep(TRUE, 780))
  expect_match(summary(ddsc(x, 2, n_neighbors = 5))$text, "tau 5")
  expect_match(summary(ddsc(x, 2, paper = TRUE))$text, "gamma [0-9]")
  line <- list(matrix(0), matrix(1), matrix(2))
  expect_equal(c(ddsc_dist(line, "w1", cost = 1 - diag(3))), c(1, 1, 1))
})

test_that("new items get the labels of equal items, before and after saving", {
  x <- clouds()
  model <- ddsc(x, 2, normalize = "standard")
  expect_equal(predict(model, x[1:4]), unname(model$labels[1:4]))
  expect_equal(predict(model), model$labels)
  expect_warning(all <- predict(model, c(a = x[1], b = list(x[[2]] + 1000)), type = "all"),
                 "labels are unreliable", class = "ddsc_warning")
  expect_equal(rownames(all), c("a", "b"))
  expect_equal(all$far, c(FALSE, TRUE))
  file <- tempfile(fileext = ".npz")
  ddsc_save(model, file)
  expect_error(ddsc_save(model, file), class = "ddsc_error")
  ddsc_save(model, file, overwrite = TRUE)
  again <- ddsc_load(file)
  expect_equal(predict(again, x), unname(model$labels))
  expect_output(print(again), "40 items in 2 clusters")
  folder <- tempfile()
  ddsc_save(model, folder)
  expect_true(all(c("labels.csv", "model.npz", "report.html") %in% list.files(folder)))
  expect_equal(predict(ddsc_load(folder), x[1]), model$labels[[1]])
  expect_error(ddsc_load(tempfile()), "No such file")
})

test_that("a stored result keeps its data but not its model", {
  file <- tempfile()
  model <- ddsc(clouds(), 2)
  saveRDS(model, file)
  again <- readRDS(file)
  expect_identical(again$labels, model$labels)
  expect_output(print(again), "40 items")
  expect_error(predict(again, clouds()[1]), "earlier R session")
  expect_error(summary(again), "earlier R session")
  expect_error(plot(again), "earlier R session")
})

test_that("pictures are drawn, in the colors of the report", {
  model <- ddsc(clouds(), 2)
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  names <- names(pictures_of(model$handle))
  expect_true(all(c("map", "eigenvalues", "sizes") %in% names))
  for (name in names) marks <- plot(model, name)
  marks <- plot(model)
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  dots <- marks[marks$kind == 2, ]
  expect_equal(nrow(dots), 40)
  expect_length(unique(dots$color), 2)
  expect_true(dots$color[1] %in% regmatches(
    ddsc_report(model), gregexpr("#[0-9a-f]{6}", ddsc_report(model)))[[1]])
  expect_error(plot(model, "mapp"), "did you mean \"map\"", class = "ddsc_error")
})

test_that("the report is one page", {
  model <- ddsc(clouds(), 2)
  expect_match(ddsc_report(model), "^<!DOCTYPE html>")
  file <- tempfile(fileext = ".html")
  ddsc_report(model, file)
  expect_identical(paste(readLines(file), collapse = "\n"), sub("\n$", "", ddsc_report(model)))
  expect_error(ddsc_report(model, file), "exists")
})

test_that("distances are a dist object", {
  x <- clouds(12)
  names(x) <- letters[1:12]
  d <- ddsc_dist(x)
  expect_s3_class(d, "dist")
  expect_equal(attr(d, "Labels"), letters[1:12])
  expect_equal(as.matrix(d), ddsc_cross(x, x), tolerance = 1e-10)
  expect_equal(c(ddsc_dist(x, squared = TRUE)), c(d)^2)
  expect_equal(unname(cutree(hclust(d), 2)), rep(1:2, 6))
  expect_equal(dim(cmdscale(d)), c(12L, 2L))
  one <- ddsc_cross(x[1:2], x[3:5])
  expect_equal(one, as.matrix(d)[1:2, 3:5], tolerance = 1e-10)
  model <- ddsc(d, 2)
  expect_equal(model$labels, setNames(rep(0:1, 6), letters[1:12]))
  expect_equal(ddsc(as.matrix(d), 2, "precomputed")$labels, model$labels)
  expect_equal(ddsc(ddsc_dist(x, squared = TRUE), 2, squared = TRUE)$embedding, model$embedding)
  expect_error(predict(model, x), class = "ddsc_error")
})

test_that("other packages take the distances", {
  x <- clouds(24)
  d <- ddsc_dist(x)
  site <- data.frame(site = rep(c("a", "b"), 12))
  skip_if_not_installed("vegan")
  set.seed(1)
  test <- vegan::adonis2(d ~ site, site, permutations = 99)
  expect_lt(test$`Pr(>F)`[1], 0.05)
  skip_if_not_installed("Rtsne")
  expect_equal(dim(Rtsne::Rtsne(d, is_distance = TRUE, perplexity = 5)$Y), c(24L, 2L))
})

test_that("scores compare labelings", {
  expect_equal(ddsc_scores(c(0, 0, 1, 1), c("b", "b", "a", "a")),
               c(ami = 1, ari = 1, nmi = 1, purity = 1))
  expect_equal(ddsc_scores(c(0, 0, 1, NA), c("b", "b", "a", "b"))[["ami"]], 1)
  expect_error(ddsc_scores(1:2, 1:3), "2 values")
})

test_that("an interrupt stops the work and leaves the session usable", {
  skip_on_os("windows")
  script <- tempfile(fileext = ".R")
  writeLines(c(
    sprintf("library(ddsc, lib.loc = %s)", deparse(dirname(find.package("ddsc")))),
    "x <- lapply(1:800, function(i) matrix(sin(seq_len(2400) * (i + 1)), ncol = 3))",
    "system(sprintf('(sleep 1; kill -INT %d) &', Sys.getpid()))",
    "cat(tryCatch(ddsc(x, 2, verbose = TRUE), interrupt = function(e) 'interrupted'), '')",
    "cat(ddsc(lapply(x[1:20], head, 20), 2)$k, 'clusters')"
  ), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE)
  expect_identical(paste(out, collapse = " "), "interrupted 2 clusters")
})

test_that("failed calls free their memory", {
  skip_if_not(file.exists("/proc/self/statm"))
  pages <- function() as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1]][2])
  x <- lapply(1:20, function(i) matrix(as.double(1:20000 + i), ncol = 2))
  again <- function(n) {
    for (i in seq_len(n)) {
      try(ddsc(x, 21), silent = TRUE) # the set is made, and then the call fails
      try(ddsc_dist(x, "w1", cost = "sqeuclidean"), silent = TRUE)
    }
    gc()
    pages()
  }
  first <- again(20)
  expect_lt(again(60) - first, 60 * 100) # one leaked set is 800 pages
})

test_that("warnings of the library are R warnings", {
  x <- clouds()
  expect_warning(ddsc(x, 2, "sinkhorn", max_iterations = 1), class = "ddsc_warning")
})
