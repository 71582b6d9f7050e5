// What random programs share with the code that keeps their state. That code is linked without hooks, so that nothing it does is a
// scheduling point.
#include <pthread.h>
#include <semaphore.h>

enum { BODIES = 8, REGISTERS = 2, VARIABLES = 2, LONGEST = 32 };

struct operation {
  int kind;
  long a, b, c, d;
};

extern long variables[VARIABLES];
extern long registers[BODIES][REGISTERS];
extern pthread_t threads[BODIES];

// The program as data: `LENGTH KIND A B C D ...` for each body, numbers apart by spaces.
extern int lengths[BODIES];
extern struct operation operations[BODIES][LONGEST];
void load(const char *text);

// Pipes with room for so many pages; each thing in them is as large as a page. `tries` are their ends to read from without waiting.
enum { PIPES = 2, PAGE = 4096 };
extern int ends[PIPES][2], tries[PIPES];
void open_pipes(void);

// The outcome is printed when the last thread has done all it does, or when a thread ends the process.
void begin(void);
void exited(long first, long second);
void created(int body);
void ended(int body);
_Noreturn void failed(int body, int at);
