library(testthat)
library(ddsc)

test_check("ddsc")
