# What R's rms::val.prob, pROC and the stats package make of the project's sample data, for test_val_prob.py.
#
# Recipe (Debian): apt-get install r-cran-rms r-cran-proc, then in the project's folder
#
#     Rscript tests/oracles/val_prob.R > tests/oracles/val_prob.json

suppressMessages({
  library(rms)
  library(pROC)
})

measured <- function(file, score, label) {
  rows <- read.csv(file.path("sample_data", file))
  p <- rows[[score]]
  y <- rows[[label]]
  odds <- qlogis(p)
  large <- glm(y ~ offset(odds), family = binomial)
  curve <- glm(y ~ rcs(odds, 5), family = binomial, control = list(epsilon = 1e-14))
  off <- abs(fitted(curve) - p)
  v <- val.prob(p, y, pl = FALSE)
  values <- c(
    auroc = v[["C (ROC)"]], gini = v[["Dxy"]], brier = v[["Brier"]],
    cox_intercept = v[["Intercept"]], cox_slope = v[["Slope"]],
    u = v[["U:Chi-sq"]], spiegelhalter = v[["S:z"]],
    citl_logit = coef(large)[[1]], oe = sum(y) / sum(p),
    ici = mean(off), e50 = quantile(off, .5, type = 1)[[1]], e90 = quantile(off, .9, type = 1)[[1]],
    emax = max(off), delong_lower = ci.auc(y, p, quiet = TRUE, direction = "<")[1],
    delong_upper = ci.auc(y, p, quiet = TRUE, direction = "<")[3]
  )
  body <- paste(sprintf('  "%s": %.15g', names(values), values), collapse = ",\n")
  sprintf('"%s %s %s": {\n%s\n}', file, score, label, body)
}

cat("{\n", paste(
  measured("forecasts.csv", "fc_ensemble", "rain"),
  measured("forecasts.csv", "fc_sharp", "rain"),
  measured("answers.csv", "confidence", "correct"),
  sep = ",\n"
), "\n}\n", sep = "")
