#include "calc.h"

#include <stdlib.h>

int add(int a, int b)
{
    return a + b;
}

int divide(int a, int b)
{
    if (b == 0)
        abort();
    return a / b;
}
