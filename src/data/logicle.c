/* The logicle scale of flow cytometry is linear near 0 and logarithmic far from it (Parks, Roederer
 * and Moore, Cytometry A 69, 2006). The parameters T, W, M, A are defined as in Moore and Parks
 * (Cytometry A 81, 2012).
 *
 * Let b = (M + A) ln 10 and w = W / (M + A). Let x1 = (A + W) / (M + A) be the position of 0 and d
 * the solution of 2 ln(d/b) + w (b + d) = 0. The value at position y = x1 + u is
 *
 *     S(u) = g [expm1(b u) - (b/d)^2 expm1(-d u)],   S(1 - x1) = T,   S(-u) = -S(u).
 *
 * In the notation of Moore and Parks, S is a e^(by) - c e^(-dy) - f. The form above avoids
 * cancellation at 0. The scale is the inverse of S. */
#include "data/recipe.h"

#include <math.h>

/* Solves w (b + d) = -2 t for t = ln(d/b). The function is convex and increasing in t, so Newton
 * steps from the right never pass the root. */
static double solve_decay(double b, double w)
{
    double t = 0;
    for (int k = 0; k < 100 && w > 0; k++) {
        double step = (2 * t + w * b * (1 + exp(t))) / (2 + w * b * exp(t));
        t -= step;
        if (!(fabs(step) > 1e-16 * fabs(t)))
            break;
    }
    return b * exp(t);
}

logicle_scale recipe_logicle(const double parameter[4])
{
    double top = parameter[0], linear = parameter[1], decades = parameter[2], more = parameter[3];
    logicle_scale s = {.b = (decades + more) * log(10)};
    s.zero = (more + linear) / (decades + more);
    s.d = solve_decay(s.b, linear / (decades + more));
    s.k = s.b / s.d * (s.b / s.d);
    s.g = top / (expm1(s.b * (1 - s.zero)) - s.k * expm1(-s.d * (1 - s.zero)));
    return s;
}

/* Returns the root of S(v) = x for x > 0. S is convex, and solving with its first term alone
 * gives a starting point to the right of the root. */
static double solve_half(const logicle_scale *s, double x)
{
    double v = log1p(x / s->g) / s->b;
    for (int k = 0; k < 100; k++) {
        double value = s->g * (expm1(s->b * v) - s->k * expm1(-s->d * v)) - x;
        double step = value / (s->g * (s->b * exp(s->b * v) + s->k * s->d * exp(-s->d * v)));
        v -= step;
        if (!(fabs(step) > 1e-15 * fabs(v)))
            break;
    }
    return v;
}

double recipe_logicle_at(const logicle_scale *s, double x)
{
    if (x == 0)
        return s->zero;
    return x > 0 ? s->zero + solve_half(s, x) : s->zero - solve_half(s, -x);
}
