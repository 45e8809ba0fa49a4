# Draws the pictures of a result from the marks of the report, with the same shapes, colors and text.

plot.ddsc <- function(x, which = "map", ...) {
  if (inherits(x, "ddsc_model")) fail("a model read from a file has no pictures")
  pictures <- pictures_of(x$handle)
  if (!is_string(which) || !which %in% names(pictures)) {
    fail("which = ", shown(which), ": this result has the pictures ", toString(names(pictures)),
         if (is_string(which)) did_you_mean(which, names(pictures)))
  }
  draw_picture(pictures[[which]])
  invisible(pictures[[which]]$marks)
}

# Parses the lines of r_pictures().
pictures_of <- function(handle) {
  lines <- strsplit(answer_of(.Call(C_r_pictures, handle)), "\n", fixed = TRUE)[[1]]
  starts <- grep("^picture\t", lines)
  ends <- c(starts[-1] - 1, length(lines))
  pictures <- lapply(seq_along(starts), function(i) {
    head <- strsplit(lines[starts[i]], "\t", fixed = TRUE)[[1]]
    body <- if (ends[i] > starts[i]) lines[(starts[i] + 1):ends[i]] else character()
    fields <- strsplit(body, "\t", fixed = TRUE)
    column <- function(j) vapply(fields, function(f) if (length(f) < j) "" else f[j], "")
    numbers <- lapply(c(kind = 1, opacity = 3, x = 4, y = 5, w = 6, h = 7, anchor = 8),
                      function(j) as.numeric(column(j)))
    marks <- data.frame(numbers, color = column(2), words = column(9), stringsAsFactors = FALSE)
    list(name = head[2], width = as.numeric(head[3]), height = as.numeric(head[4]), marks = marks)
  })
  names(pictures) <- vapply(pictures, `[[`, "", "name")
  pictures
}

# The kinds of marks are 0 line, 1 box, 2 dot, 3 text (include/ddsc/ddsc.h). y increases downward.
draw_picture <- function(picture) {
  old <- graphics::par(mar = c(0.5, 0.5, 0.5, 0.5), xpd = NA)
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0, picture$width), c(picture$height, 0), asp = 1)
  marks <- picture$marks
  marks$ink <- mapply(grDevices::adjustcolor, marks$color, marks$opacity, USE.NAMES = FALSE)
  inch <- graphics::par("pin")[1] / diff(graphics::par("usr")[1:2])
  text_size <- 11 * inch * 72 / (graphics::par("ps") * 1.1)
  runs <- rle(marks$kind)
  last <- cumsum(runs$lengths)
  for (i in seq_along(last)) { # marks in order: later ones are drawn over earlier ones
    m <- marks[(last[i] - runs$lengths[i] + 1):last[i], ]
    switch(runs$values[i] + 1,
      graphics::segments(m$x, m$y, m$x + m$w, m$y + m$h, col = m$ink),
      graphics::rect(m$x, m$y + m$h, m$x + m$w, m$y, col = m$ink, border = NA),
      graphics::symbols(m$x, m$y, circles = m$w, inches = FALSE, add = TRUE, bg = m$ink,
                        fg = NA),
      for (side in unique(m$anchor)) {
        s <- m[m$anchor == side, ]
        graphics::text(s$x, s$y, s$words, col = s$ink, cex = text_size,
                       adj = c(c(0, 0.5, 1)[side + 1], 0))
      })
  }
}
