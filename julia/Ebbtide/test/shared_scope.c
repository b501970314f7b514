/* What a library in C does with a scope that Julia lends it. */
#include <ebbtide.h>

/* A new array in the scope, which goes on behind what is there. */
double *squares(ebb_scope *s, const double *x, size_t n) {
    double *y = ebb_array(s, double, n);
    if (y != NULL)
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] * x[i];
    return y;
}

/* Needs memory of its own meanwhile. */
double sum_of_squares(ebb_scope *s, const double *x, size_t n) {
    ebb_scope scratch = ebb_child(s);
    const double *y = squares(&scratch, x, n);
    double sum = 0;
    for (size_t i = 0; y != NULL && i < n; i++)
        sum += y[i];
    ebb_close(&scratch);
    return sum;
}

/* Calls back, with the scope that it was lent. */
double apply(ebb_scope *s, double (*f)(ebb_scope *s, size_t n), size_t n) {
    double *x = ebb_array(s, double, 1);
    if (x == NULL)
        return 0;
    *x = f(s, n);
    return *x;
}
