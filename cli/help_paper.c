/* ddsc help paper: compares Algorithms 1 and 2 of the paper with the program, and lists the choices
 * that the paper leaves open. The library provides the list of settings. */
#include "options.h"

enum { WIDTH = 80, COLUMN = 4 };

typedef struct step {
    const char *head, *text;
} step;

static const step algorithm_1[] = {
    {"1-6  D_ij = d(X_i, X_j)",
     "The metric of -m: mmd, sinkhorn, w2, or lot for Algorithm 2. mmd: D^2 is the unbiased "
     "estimate. sinkhorn: D = W_eps. w2: D = W_2. Only pairs that can be among the tau nearest are "
     "solved. Lower bounds exclude the others, and the result is the same. With --sample P, pairs "
     "outside the sample are not computed and remain missing."},
    {"7    D = D + D'", "D is symmetric, so each pair is computed once."},
    {"8    A = exp(-gamma D^2) - I", "As printed. The diagonal is 0: no item is its own neighbor."},
    {"9    sparse_tau(A)", "A keeps the tau largest entries of each column and is then replaced "
                           "with (A + A')/2. An edge that is in only one of the two columns has "
                           "half its weight. In a tie, the lower item number is used."},
    {"10   S = diag(column sums)", "S is computed as printed, from the symmetric A."},
    {"11   L = I - S^-1/2 A S^-1/2",
     "As printed. An item without edges is a separate component (eigenvalue 0)."},
    {"12   L = V Lambda V'",
     "Only the K smallest eigenvalues and the next one are computed, to a residual of at most "
     "1e-8, and verified. embedding.npy and eigenvalues.csv contain them."},
    {"13   V_K", "The embedding has K eigenvectors, all with weight 1."},
    {"14   unit rows", "As printed. A row of zeros stays 0."},
    {"15   K-means",
     "k-means starts from k-means++ centers and runs Lloyd iterations until no label changes."},
    {0}};

static const step algorithm_2[] = {
    {"1-3  m_0, X_0, g",
     "m_0 is the mean number of points per item, rounded. X_0 has m_0 points with weights 1/m_0."},
    {"4-6  g_k = plan of W_2(X_0, X_k)", "Exact transport with a certified duality gap."},
    {"7-13 Z_i = phi(X_i), D_ij = |Z_i - Z_j|_F",
     "f_i = m_0 g_i X_i and phi(X_i) = (f_i - X_0) / sqrt(m_0), as printed. `ddsc embed --paper` "
     "writes the Z_i and prints how far |phi(X_i)| is from W_2(X_i, X_0)."},
    {"14   lines 7-15 of Algorithm 1", "As above."},
    {0}};

static const step choices[] = {
    {"gamma",
     "gamma is 1 / median of the D^2 in the neighbor lists, so that half of the edges have an "
     "affinity above 1/e in any unit of distance; --gamma X sets it. If at least half of them are "
     "0, the median of the positive ones is used, and gamma is 1 if none is positive."},
    {"tau", "tau is max(10, log2 N), and less for small N, because about log N neighbors keep a "
            "graph connected; --tau sets it."},
    {"K",
     "K is an input, as in the paper. -k A:B and -k auto suggest a K from the same eigenvectors."},
    {"epsilon", "epsilon is 5% of the median cost by default. --epsilon X sets an absolute value, "
                "as in the paper (1 to 10). "
                "A pair has converged at a marginal error of 1e-9 (--tolerance)."},
    {"sign of the entropy",
     "The printed definition, H = -sum p log(p / ab) with + epsilon H, makes the problem concave. "
     "The printed dual belongs to the problem with + epsilon sum p log(p / ab). The program "
     "computes the value of the dual, as Cuturi and Genevay do."},
    {"D for sinkhorn", "Algorithm 1 uses D = W_eps. W_eps is a cost (a squared length), so the "
                       "program's default is D^2 = W_eps; the neighbors are the same."},
    {"kernel and bandwidth of mmd",
     "The kernel is Gaussian; its width is the 5% quantile of the distances between points, and "
     "--bandwidth sets it. The paper states the width only for its noise experiment (1)."},
    {"other distances",
     "-m w1, --cost and --mmd-kernel are accepted: the paper defines W_k for any k, Sinkhorn for "
     "any cost and mmd for any kernel. Its experiments use W_2, squared costs and the Gaussian "
     "kernel, which are the defaults."},
    {"weights in mmd",
     "The printed estimator assumes equal weights. For weights w, the sums over i != j are divided "
     "by 1 - sum w_i^2, which gives the printed estimator if all weights are equal."},
    {"negative MMD^2",
     "The unbiased estimate can be negative, and D is then not defined. Neighbors "
     "are ordered by the estimate itself, and A uses max(0, D^2), so that A is "
     "at most 1."},
    {"normal distribution of X_0",
     "The reference has the mean and standard deviation of all points, axis by axis. The random "
     "sample depends only on --seed."},
    {"ties in transport plans",
     "An optimal plan need not be unique, and phi depends on it. The solver returns an optimal "
     "vertex, which is the same in every run."},
    {"more than K components", "If the graph has more than K components, the K eigenvectors of the "
                               "eigenvalue 0 are not unique, and the output reports this."},
    {"restarts",
     "k-means runs 30 times, and the run with the lowest inertia is kept (--restarts)."},
    {"text",
     "Tokens, stop words, lemmas and the form of the idf are options of `ddsc text`, because the "
     "paper does not describe them in detail. The default is 16 points per document."},
    {"preparation of the data",
     "Transforms (--normalize, --arcsinh, --pca, --align, ...), --compress and "
     "--subset-per-class are off by default. Transforms change only the input, not the algorithm."},
    {0}};

static void add_steps(text *t, const char *title, const step *s)
{
    text_addf(t, "\n%s:\n", title);
    for (; s->head; s++) {
        text_addf(t, "  %s\n%*s", s->head, COLUMN + 3, "");
        text_add_wrapped(t, s->text, COLUMN + 3, COLUMN + 3, WIDTH);
        text_add(t, "\n");
    }
}

void help_paper(text *t)
{
    const char *setting, *value, *why;
    text_add_wrapped(t,
                     "With --paper, text, cluster, neighbors, distance, embed and assign follow "
                     "Wang, Qiao, Fan, \"Spectral Clustering for Discrete Distributions\", as "
                     "printed. In Python: paper=True; in C: the field `paper` of the settings. "
                     "assign --paper accepts only models of `cluster --paper`; the paper does "
                     "not define how to assign new items.",
                     0, 0, WIDTH);
    text_add(t, "\n");
    add_steps(t, "Algorithm 1, line by line", algorithm_1);
    add_steps(t, "Algorithm 2 (-m lot)", algorithm_2);
    text_add(t, "\nSettings that --paper changes or fixes (their names in C):\n");
    for (int64_t k = 0; ddsc_paper_get_rule(k, &setting, &value, &why); k++) {
        text_addf(t, "  %s = %s\n%*s", setting, value, COLUMN + 3, "");
        text_add_wrapped(t, why, COLUMN + 3, COLUMN + 3, WIDTH);
        text_add(t, "\n");
    }
    add_steps(t, "Choices that the paper leaves open", choices);
    text_add(t, "\nThe paper's tables next to ours: docs/paper.md, generated by `./run paper`.\n");
}
