# Oracle of the distance-based analysis of variance: vegan's adonis2 and betadisper.
#   Rscript permanova_vegan.R FOLDER
# FOLDER has D.csv (distances), columns.csv (a, b: factors, x: number, block), permutations.csv (from 1).
suppressMessages(library(vegan))
folder <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name, ...) as.matrix(read.csv(file.path(folder, name), header = FALSE))
D <- as.dist(read("D.csv"))
columns <- read.csv(file.path(folder, "columns.csv"), colClasses = c("factor", "factor", "numeric", "factor"))
permutations <- read("permutations.csv")
show <- function(name, x) cat(name, format(x, digits = 17), "\n")
fit <- adonis2(D ~ a + b + x, data = columns, by = "margin", permutations = permutations)
show("df", fit$Df)
show("ss", fit$SumOfSqs)
show("r2", fit$R2)
show("f", fit$F[1:3])
show("p", fit$`Pr(>F)`[1:3])
spread <- suppressWarnings(betadisper(D, columns$a, type = "centroid"))
show("distance", spread$distances)
test <- permutest(spread, permutations = permutations)
show("dispersion_f", test$tab$F[1])
show("dispersion_p", test$tab$`Pr(>F)`[1])
