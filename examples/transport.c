/* Solves one transport problem, exactly and with entropic regularization:
 *     cc transport.c $(pkg-config --cflags --libs ddsc) && ./a.out */
#include <ddsc/ddsc.h>
#include <stdio.h>

enum { N = 3, M = 2 };

int main(void)
{
    /* Three mines, two factories, and the cost per unit from each mine to each factory. */
    const double mined[N] = {30, 20, 50}, needed[M] = {40, 60};
    const double cost[N * M] = {1, 4, 2, 2, 5, 3};
    double amount[N * M];
    ddsc_context *ctx = NULL;
    ddsc_transport_problem problem;
    ddsc_transport plan, blurred;
    ddsc_sinkhorn_settings entropy;

    ddsc_transport_problem_init(&problem);
    problem.n = N;
    problem.m = M;
    problem.a = mined;
    problem.b = needed;
    problem.cost = cost;
    ddsc_transport_init(&plan); /* arrays that are NULL are not filled */
    plan.plan = amount;
    ddsc_transport_init(&blurred);
    ddsc_sinkhorn_settings_init(&entropy);
    entropy.epsilon = 0.05;

    ddsc_status status = ddsc_context_create(&ctx, NULL);
    if (status == DDSC_OK)
        status = ddsc_emd_run(ctx, &plan, &problem);
    if (status >= 0)
        status = ddsc_sinkhorn_run(ctx, &blurred, &problem, &entropy);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", ddsc_status_name(status), ddsc_context_get_message(ctx));
    } else {
        for (int i = 0; i < N; i++)
            printf("mine %d: %2.0f to factory 0, %2.0f to factory 1\n", i, amount[M * i],
                   amount[M * i + 1]);
        printf("cost %.0f, and no plan costs less than %.0f\n", plan.primal, plan.dual);
        printf("with entropy %.2f\n", blurred.primal);
    }
    ddsc_context_destroy(ctx);
    return status < 0;
}
