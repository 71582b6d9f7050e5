/* What programs of a model checker's test suite ask of it, in terms of threads: an assumption that does not hold blocks its
   thread for ever. Annotations that only save the checker work are left out. */
#ifndef GENMC_H
#define GENMC_H
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#ifdef __cplusplus
extern "C" {
#endif
void __VERIFIER_assume(bool condition);
#ifdef __cplusplus
}
#endif
#define __VERIFIER_loop_begin() ((void)0)
#define __VERIFIER_spin_start() ((void)0)
#define __VERIFIER_spin_end(turn) ((void)(turn))
#define __VERIFIER_local_write(step) do { step; } while (0)
#define __VERIFIER_final_write(step) do { step; } while (0)
#define __VERIFIER_helped_CAS(step) do { step; } while (0)
#define __VERIFIER_helping_CAS(step) do { step; } while (0)
#define __VERIFIER_speculative_read(value) (value)
#define __VERIFIER_confirming_read(value) (value)
#define __VERIFIER_confirming_CAS(value) (value)
#endif
