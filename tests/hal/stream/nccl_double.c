// A double of libnccl for GPUs whose memory the host can touch: those of the software GPU. Ranks are threads' of one
// process. What it is strict about is what the library is: ids are its own, ranks join together or wait, each on a GPU
// of its own, calls of a group start at once, and the work runs on streams.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, CUDA_ERROR = 1, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { MAX_RANKS = 8, MAX_OPS = 64, NO_COLOR = -1 };
typedef enum { ALL_GATHER, ALL_REDUCE, BROADCAST, REDUCE, REDUCE_SCATTER, SEND, RECV } kind_t;
typedef struct unique_id_t {
  char bytes[128];
} unique_id_t;

typedef struct comm_t comm_t;
typedef struct op_t {
  struct op_t* next;
  comm_t* comm;
  kind_t kind;
  const uint8_t* send;
  uint8_t* recv;
  size_t count;
  int type, reduction, peer;  // or the root
  bool is_done;
} op_t;

// The ranks of a communicator. The n-th collectives of all are one round.
typedef struct clique_t {
  struct clique_t* next;
  unique_id_t id;
  int count, joined, refs;
  comm_t* comms[MAX_RANKS];
  int devices[MAX_RANKS];
  op_t* messages;
  op_t* rounds;
  int splitting, split_left;
  int colors[MAX_RANKS], keys[MAX_RANKS];
  struct clique_t* parts[MAX_RANKS];
} clique_t;

struct comm_t {
  clique_t* clique;
  int rank, error, refs;
  bool is_aborted, is_broken;
  uint64_t started;  // collectives
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static clique_t* cliques;
static int live, ids;
static char failing[64];
static int failing_result, broken_rank = -1, broken_error;

EXPORT void nccl_double_fail(const char* symbol, int result) {
  pthread_mutex_lock(&mutex);
  strncpy(failing, symbol, sizeof(failing) - 1);
  failing_result = result;
  pthread_mutex_unlock(&mutex);
}
EXPORT void nccl_double_break(int rank, int error) {
  pthread_mutex_lock(&mutex);
  broken_rank = rank;
  broken_error = error;
  pthread_mutex_unlock(&mutex);
}
EXPORT int nccl_double_live(void) {
  pthread_mutex_lock(&mutex);
  int count = live;
  pthread_mutex_unlock(&mutex);
  return count;
}

static int enter(const char* symbol) {
  pthread_mutex_lock(&mutex);
  int result = strcmp(failing, symbol) == 0 ? failing_result : SUCCESS;
  if (result) failing[0] = 0;
  pthread_mutex_unlock(&mutex);
  return result;
}
#define ENTER()                   \
  do {                            \
    int result = enter(__func__); \
    if (result) return result;    \
  } while (0)

//===----------------------------------------------------------------------------------------------------------------===
// Arithmetic
//===----------------------------------------------------------------------------------------------------------------===

static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16 };

static double load_float(int type, const uint8_t* at) {
  uint32_t bits = 0;
  float single;
  double wide;
  _Float16 half;
  switch (type) {
    case FLOAT16:
      memcpy(&half, at, 2);
      return (double)half;
    case BFLOAT16:
      memcpy((uint8_t*)&bits + 2, at, 2);
      memcpy(&single, &bits, 4);
      return single;
    case FLOAT32:
      memcpy(&single, at, 4);
      return single;
    default:
      memcpy(&wide, at, 8);
      return wide;
  }
}

static void store_float(int type, uint8_t* at, double value) {
  float single = (float)value;
  _Float16 half = (_Float16)value;
  if (type == FLOAT16) memcpy(at, &half, 2);
  if (type == BFLOAT16) memcpy(at, (uint8_t*)&single + 2, 2);  // exact in tests
  if (type == FLOAT32) memcpy(at, &single, 4);
  if (type == FLOAT64) memcpy(at, &value, 8);
}

static int64_t load_integer(int type, const uint8_t* at) {
  int64_t value = 0;
  memcpy(&value, at, sizes[type]);
  if (type == INT8) return (int8_t)value;
  if (type == INT32) return (int32_t)value;
  return value;
}

enum { SUM, PRODUCT, MAXIMUM, MINIMUM, AVERAGE };
#define COMBINE(reduction, x, y)                      \
  ((reduction) == PRODUCT   ? (x) * (y)               \
   : (reduction) == MAXIMUM ? ((x) > (y) ? (x) : (y)) \
   : (reduction) == MINIMUM ? ((x) < (y) ? (x) : (y)) \
                            : (x) + (y))

// Element `index` of all sends, to `target`.
static void reduce_element(const clique_t* clique, op_t* const* ops, size_t index, uint8_t* target) {
  int type = ops[0]->type, reduction = ops[0]->reduction;
  size_t at = index * sizes[type];
  if (type >= FLOAT16) {
    double value = load_float(type, ops[0]->send + at);
    for (int i = 1; i < clique->count; ++i) value = COMBINE(reduction, value, load_float(type, ops[i]->send + at));
    store_float(type, target, reduction == AVERAGE ? value / clique->count : value);
    return;
  }
  int64_t value = load_integer(type, ops[0]->send + at);
  for (int i = 1; i < clique->count; ++i) value = COMBINE(reduction, value, load_integer(type, ops[i]->send + at));
  if (reduction == AVERAGE) value /= clique->count;
  memcpy(target, &value, sizes[type]);
}

// In a copy first: results may be in place of what they are made of.
static void reduce(const clique_t* clique, op_t* const* ops, size_t count, uint8_t** out) {
  size_t size = sizes[ops[0]->type];
  *out = malloc(count * size + 1);
  for (size_t i = 0; i < count; ++i) reduce_element(clique, ops, i, *out + i * size);
}

static void run_round(const clique_t* clique, op_t* const* ops) {
  size_t size = ops[0]->count * sizes[ops[0]->type];
  uint8_t* result = NULL;
  int n = clique->count;
  switch (ops[0]->kind) {
    case ALL_GATHER:
      result = malloc(size * (size_t)n + 1);
      for (int i = 0; i < n; ++i) memcpy(result + (size_t)i * size, ops[i]->send, size);
      for (int i = 0; i < n; ++i) memcpy(ops[i]->recv, result, size * (size_t)n);
      break;
    case BROADCAST:
      for (int i = 0; i < n; ++i) memmove(ops[i]->recv, ops[ops[0]->peer]->send, size);
      break;
    case ALL_REDUCE:
      reduce(clique, ops, ops[0]->count, &result);
      for (int i = 0; i < n; ++i) memcpy(ops[i]->recv, result, size);
      break;
    case REDUCE:
      reduce(clique, ops, ops[0]->count, &result);
      memcpy(ops[ops[0]->peer]->recv, result, size);
      break;
    default:
      reduce(clique, ops, ops[0]->count * (size_t)n, &result);
      for (int i = 0; i < n; ++i) memcpy(ops[i]->recv, result + (size_t)i * size, size);
  }
  free(result);
}

//===----------------------------------------------------------------------------------------------------------------===
// Meeting; the mutex is held
//===----------------------------------------------------------------------------------------------------------------===

static bool is_message(const op_t* op) { return op->kind == SEND || op->kind == RECV; }

static void post_message(clique_t* clique, op_t* op) {
  for (op_t** link = &clique->messages; *link; link = &(*link)->next) {
    op_t* other = *link;
    if (other->kind == op->kind || other->comm->rank != op->peer || other->peer != op->comm->rank) continue;
    *link = other->next;
    op_t *send = op->kind == SEND ? op : other, *recv = op->kind == SEND ? other : op;
    if (send->count == recv->count && send->type == recv->type) {
      memmove(recv->recv, send->send, send->count * sizes[send->type]);
    } else {
      send->comm->error = recv->comm->error = INVALID_USAGE;
    }
    op->is_done = other->is_done = true;
    return;
  }
  op_t** link = &clique->messages;
  while (*link) link = &(*link)->next;
  op->next = NULL;
  *link = op;
}

static bool matches(const op_t* a, const op_t* b) {
  return a->kind == b->kind && a->count == b->count && a->type == b->type && a->reduction == b->reduction &&
         a->peer == b->peer;
}

// A rank's first collective that waits is of the round; who completes it does the work.
static void post_to_round(clique_t* clique, op_t* op) {
  op_t** link = &clique->rounds;
  while (*link) link = &(*link)->next;
  op->next = NULL;
  *link = op;
  op_t* round[MAX_RANKS] = {0};
  int arrived = 0;
  for (op_t* other = clique->rounds; other; other = other->next) {
    if (!round[other->comm->rank]) ++arrived;
    if (!round[other->comm->rank]) round[other->comm->rank] = other;
  }
  if (arrived < clique->count) return;
  bool is_right = true;
  for (int i = 1; i < clique->count; ++i) is_right = is_right && matches(round[0], round[i]);
  if (is_right) run_round(clique, round);
  for (int i = 0; i < clique->count; ++i) {
    if (!is_right) round[i]->comm->error = INVALID_USAGE;
    round[i]->is_done = true;
    for (op_t** at = &clique->rounds; *at; at = &(*at)->next) {
      if (*at != round[i]) continue;
      *at = round[i]->next;
      break;
    }
  }
}

static void forget(op_t** list, const comm_t* comm) {
  for (op_t** link = list; *link;) {
    if ((*link)->comm == comm) {
      *link = (*link)->next;
    } else {
      link = &(*link)->next;
    }
  }
}

static void comm_release(comm_t* comm) {
  if (--comm->refs) return;
  clique_t* clique = comm->clique;
  free(comm);
  if (--clique->refs == 0) free(clique);
}

// The ranks that are left hear that one is gone.
static void fail_all(const clique_t* clique) {
  for (int i = 0; i < clique->count; ++i) {
    if (clique->comms[i] && !clique->comms[i]->error) clique->comms[i]->error = REMOTE_ERROR;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups of calls
//===----------------------------------------------------------------------------------------------------------------===

typedef struct job_t {
  int count;
  void* stream;
  op_t ops[MAX_OPS];
} job_t;
static _Thread_local int depth;
static _Thread_local job_t* job;

static bool is_over(const job_t* running) {
  for (int i = 0; i < running->count; ++i) {
    if (!running->ops[i].is_done && !running->ops[i].comm->is_aborted) return false;
  }
  return true;
}

// On the stream.
static void run_job(void* data) {
  job_t* running = data;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < running->count; ++i) {
    op_t* op = &running->ops[i];
    if (op->comm->is_aborted || op->comm->is_broken) continue;
    (is_message(op) ? post_message : post_to_round)(op->comm->clique, op);
  }
  pthread_cond_broadcast(&changed);
  while (!is_over(running)) pthread_cond_wait(&changed, &mutex);
  for (int i = 0; i < running->count; ++i) {
    comm_t* comm = running->ops[i].comm;
    forget(&comm->clique->messages, comm);
    forget(&comm->clique->rounds, comm);
    comm_release(comm);
  }
  pthread_mutex_unlock(&mutex);
  free(running);
}

// Of the library that the process has; NULL: it has none.
static uintptr_t find_cuda(const char* symbol) {
  void* cuda = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  uintptr_t found = cuda ? (uintptr_t)dlsym(cuda, symbol) : 0;
  if (cuda) dlclose(cuda);
  return found;
}

static int launch(job_t* started) {
  typedef int (*launch_t)(void* stream, void (*call)(void*), void* data);
  launch_t call = (launch_t)find_cuda("cuLaunchHostFunc");
  return call && call(started->stream, run_job, started) == 0 ? SUCCESS : CUDA_ERROR;
}

EXPORT int ncclGroupStart(void) {
  ENTER();
  ++depth;
  return SUCCESS;
}

EXPORT int ncclGroupEnd(void) {
  int result = enter(__func__);
  if (--depth || !job) return result;
  job_t* started = job;
  job = NULL;
  if (!result) result = launch(started);
  if (!result) return result;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < started->count; ++i) comm_release(started->ops[i].comm);
  pthread_mutex_unlock(&mutex);
  free(started);
  return result;
}

static int start(const op_t* op, void* stream) {
  if (!job) job = calloc(1, sizeof(*job));
  if (job->count == MAX_OPS || op->type < 0 || op->type > BFLOAT16) return INVALID_ARGUMENT;
  job->stream = stream;
  job->ops[job->count++] = *op;
  pthread_mutex_lock(&mutex);
  ++op->comm->refs;
  if (op->comm->rank == broken_rank) {
    op->comm->error = broken_error;
    fail_all(op->comm->clique);
    op->comm->is_broken = true;
    broken_rank = -1;
  }
  pthread_mutex_unlock(&mutex);
  if (depth) return SUCCESS;
  depth = 1;
  return ncclGroupEnd();
}

#define CALL(symbol, parameters, ...)      \
  EXPORT int symbol parameters {           \
    ENTER();                               \
    op_t op = {.comm = comm, __VA_ARGS__}; \
    return start(&op, stream);             \
  }
CALL(ncclAllGather, (const void* send, void* recv, size_t count, int type, comm_t* comm, void* stream),
     .kind = ALL_GATHER, .send = send, .recv = recv, .count = count, .type = type)
CALL(ncclAllReduce, (const void* send, void* recv, size_t count, int type, int reduction, comm_t* comm, void* stream),
     .kind = ALL_REDUCE, .send = send, .recv = recv, .count = count, .type = type, .reduction = reduction)
CALL(ncclBroadcast, (const void* send, void* recv, size_t count, int type, int root, comm_t* comm, void* stream),
     .kind = BROADCAST, .send = send, .recv = recv, .count = count, .type = type, .peer = root)
CALL(ncclReduce,
     (const void* send, void* recv, size_t count, int type, int reduction, int root, comm_t* comm, void* stream),
     .kind = REDUCE, .send = send, .recv = recv, .count = count, .type = type, .reduction = reduction, .peer = root)
CALL(ncclReduceScatter,
     (const void* send, void* recv, size_t count, int type, int reduction, comm_t* comm, void* stream),
     .kind = REDUCE_SCATTER, .send = send, .recv = recv, .count = count, .type = type, .reduction = reduction)
CALL(ncclSend, (const void* send, size_t count, int type, int peer, comm_t* comm, void* stream), .kind = SEND,
     .send = send, .count = count, .type = type, .peer = peer)
CALL(ncclRecv, (void* recv, size_t count, int type, int peer, comm_t* comm, void* stream), .kind = RECV, .recv = recv,
     .count = count, .type = type, .peer = peer)

//===----------------------------------------------------------------------------------------------------------------===
// Communicators
//===----------------------------------------------------------------------------------------------------------------===

EXPORT const char* ncclGetErrorString(int result) { return result == REMOTE_ERROR ? "a rank is gone" : "no luck"; }

EXPORT int ncclGetUniqueId(unique_id_t* out_id) {
  ENTER();
  memset(out_id, 0, sizeof(*out_id));
  pthread_mutex_lock(&mutex);
  memcpy(out_id->bytes, &(int){++ids}, sizeof(int));
  pthread_mutex_unlock(&mutex);
  return SUCCESS;
}

// The GPU of this thread's context.
static int current_device(void) {
  typedef int (*get_t)(int* out_device);
  get_t get = (get_t)find_cuda("cuCtxGetDevice");
  int device = -1;
  return get && get(&device) == 0 ? device : -1;
}

// Whether each rank has a GPU of its own; all have joined.
static bool are_apart(const clique_t* clique) {
  for (int i = 0; i < clique->count; ++i) {
    for (int j = 0; j < i; ++j) {
      if (clique->devices[i] == clique->devices[j]) return false;
    }
  }
  return true;
}

static bool is_own_id(const unique_id_t* id) {
  unique_id_t own = {{0}};
  memcpy(own.bytes, id->bytes, sizeof(int));
  int number = 0;
  memcpy(&number, own.bytes, sizeof(int));
  return memcmp(&own, id, sizeof(own)) == 0 && number > 0 && number <= ids;
}

static comm_t* join(clique_t* clique, int rank) {
  comm_t* comm = calloc(1, sizeof(*comm));
  comm->clique = clique;
  comm->rank = rank;
  comm->refs = 1;
  clique->comms[rank] = comm;
  clique->devices[rank] = current_device();
  ++clique->joined;
  ++clique->refs;
  ++live;
  pthread_cond_broadcast(&changed);
  while (clique->joined < clique->count) pthread_cond_wait(&changed, &mutex);
  return comm;
}

static void leave(comm_t* comm, bool is_abort) {
  pthread_mutex_lock(&mutex);
  comm->is_aborted = true;
  comm->clique->comms[comm->rank] = NULL;
  if (is_abort) fail_all(comm->clique);
  --live;
  pthread_cond_broadcast(&changed);
  comm_release(comm);
  pthread_mutex_unlock(&mutex);
}

EXPORT int ncclCommInitRank(comm_t** out_comm, int count, unique_id_t id, int rank) {
  ENTER();
  if (count < 1 || count > MAX_RANKS || rank < 0 || rank >= count) return INVALID_ARGUMENT;
  pthread_mutex_lock(&mutex);
  if (!is_own_id(&id)) {
    pthread_mutex_unlock(&mutex);
    return INVALID_ARGUMENT;
  }
  clique_t** link = &cliques;
  while (*link && memcmp(&(*link)->id, &id, sizeof(id)) != 0) link = &(*link)->next;
  if (!*link) {
    *link = calloc(1, sizeof(**link));
    (*link)->id = id;
    (*link)->count = count;
  }
  clique_t* clique = *link;
  if (clique->joined + 1 == count) *link = clique->next;
  comm_t* comm = join(clique, rank);
  bool is_right = are_apart(clique);
  pthread_mutex_unlock(&mutex);
  if (!is_right) leave(comm, false);
  *out_comm = is_right ? comm : NULL;
  return is_right ? SUCCESS : INVALID_USAGE;
}

// Makes the parts of a split for all.
static void divide(clique_t* clique) {
  for (int i = 0; i < clique->count; ++i) {
    clique->parts[i] = NULL;
    if (clique->colors[i] == NO_COLOR) continue;
    for (int j = 0; j < i && !clique->parts[i]; ++j) {
      if (clique->colors[j] == clique->colors[i]) clique->parts[i] = clique->parts[j];
    }
    if (!clique->parts[i]) clique->parts[i] = calloc(1, sizeof(*clique));
    ++clique->parts[i]->count;
  }
}

static int rank_in_part(const clique_t* clique, int rank) {
  int before = 0;
  for (int i = 0; i < clique->count; ++i) {
    if (clique->colors[i] != clique->colors[rank]) continue;
    before += clique->keys[i] < clique->keys[rank] || (clique->keys[i] == clique->keys[rank] && i < rank);
  }
  return before;
}

EXPORT int ncclCommSplit(comm_t* comm, int color, int key, comm_t** out_comm, void* config) {
  ENTER();
  clique_t* clique = comm->clique;
  *out_comm = NULL;
  pthread_mutex_lock(&mutex);
  while (clique->split_left) pthread_cond_wait(&changed, &mutex);
  clique->colors[comm->rank] = color;
  clique->keys[comm->rank] = key;
  if (++clique->splitting == clique->count) {
    divide(clique);
    clique->splitting = 0;
    clique->split_left = clique->count;
    pthread_cond_broadcast(&changed);
  }
  while (!clique->split_left) pthread_cond_wait(&changed, &mutex);
  clique_t* part = clique->parts[comm->rank];
  int rank = rank_in_part(clique, comm->rank);
  --clique->split_left;
  pthread_cond_broadcast(&changed);
  if (part) *out_comm = join(part, rank);
  pthread_mutex_unlock(&mutex);
  return SUCCESS;
}

// What fails has ended nevertheless.
EXPORT int ncclCommDestroy(comm_t* comm) {
  int result = enter(__func__);
  leave(comm, false);
  return result;
}
EXPORT int ncclCommAbort(comm_t* comm) {
  int result = enter(__func__);
  leave(comm, true);
  return result;
}

EXPORT int ncclCommGetAsyncError(comm_t* comm, int* out_error) {
  ENTER();
  pthread_mutex_lock(&mutex);
  *out_error = comm->error;
  pthread_mutex_unlock(&mutex);
  return SUCCESS;
}
EXPORT int ncclCommUserRank(const comm_t* comm, int* out_rank) {
  ENTER();
  *out_rank = comm->rank;
  return SUCCESS;
}
EXPORT int ncclCommCount(const comm_t* comm, int* out_count) {
  ENTER();
  *out_count = comm->clique->count;
  return SUCCESS;
}
