// Collectives in the order of a queue: the queue's stream and those of the channels wait for each other's events.
//
// A batch is two parts of an operation. The first posts it to its channels, whose threads let their streams wait for
// what is in the queue's, and make the library's calls, which may take until the other ranks make theirs; the queue
// holds what comes behind it meanwhile. The second is written when all of it is in their streams, for which the queue's
// then waits.
#include "hal/stream/queue.h"

static const gpu_command_t batch_command = {.kind = HAL_COMMAND_COLLECTIVE};

iree_status_t stream_order_batch(const hal_collective_order_t* order) {
  gpu_operation_t op = gpu_operation_make(order->device, order->queue_affinity, order->waits, order->signals);
  op.work = (gpu_work_t){.backend = gpu_operation_device(&op)->backend, .commands = &batch_command, .count = 1};
  op.batch = order->batch;
  op.resources[0] = hal_collective_batch_resource(order->batch);
  return gpu_operation_submit(&op);
}

bool stream_batch_is_held(const gpu_operation_t* op) {
  return op->batch && hal_collective_batch_is_posted(op->batch) && !hal_collective_batch_has_started(op->batch);
}

// The device may be gone: then another thread saw that it has started, and ended it.
static void started(void* user_data, uint64_t queue_id) {
  gpu_far_producer_t far = {{.queue_id = queue_id}, (gpu_gate_t*)user_data};
  gpu_queue_t* queue = gpu_far_producer_enter(&far);
  if (queue) {
    gpu_queue_retry(queue);
    gpu_gate_leave(far.gate);
  }
  gpu_gate_release(far.gate);
}

static iree_status_t post(stream_queue_t* queue, hal_collective_batch_t* batch, void* before) {
  gpu_gate_t* gate = gpu_gate_retain(queue->base.device->gate);
  hal_collective_start_t start = {before, started, gate, queue->base.id};
  iree_status_t status = hal_collective_batch_post(batch, &start);
  if (!iree_status_is_ok(status)) gpu_gate_release(gate);
  return status;
}

static iree_status_t join(const stream_queue_t* queue, hal_collective_batch_t* batch) {
  void *event = NULL, *last = NULL;
  IREE_RETURN_IF_ERROR(hal_collective_batch_failure(batch));
  for (iree_host_size_t i = 0; (event = hal_collective_batch_after(batch, i)) != NULL; ++i, last = event) {
    if (event == last) continue;  // of the same channel
    IREE_RETURN_IF_ERROR(STREAM_CALL(queue->context->api, stream_wait, queue->writer.stream, event, 0));
  }
  return iree_ok_status();
}

iree_status_t stream_write_batch(stream_queue_t* queue, const gpu_operation_t* op, void* before, bool* out_waits) {
  *out_waits = !hal_collective_batch_is_posted(op->batch);
  return *out_waits ? post(queue, op->batch, before) : join(queue, op->batch);
}
