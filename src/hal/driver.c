// Drivers: the public calls, and device URIs.
#include "iree/hal/driver.h"

#include "base/trace.h"
#include "hal/detail.h"

#define MAX_PARAMS 32

HAL_DEFINE_LIFETIME(driver)

static const iree_hal_device_create_params_t default_params = {NULL, NULL};

iree_status_t iree_hal_driver_query_available_devices(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                                      iree_host_size_t* out_device_info_count,
                                                      iree_hal_device_info_t** out_device_infos) {
  *out_device_info_count = 0;
  *out_device_infos = NULL;
  return HAL_CALL(driver, iree_hal_driver, query_available_devices)(driver, host_allocator, out_device_info_count,
                                                                    out_device_infos);
}

iree_status_t iree_hal_driver_dump_device_info(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                               iree_string_builder_t* builder) {
  return HAL_CALL(driver, iree_hal_driver, dump_device_info)(driver, device_id, builder);
}

iree_status_t iree_hal_driver_create_device_by_id(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                                  iree_host_size_t param_count, const iree_string_pair_t* params,
                                                  const iree_hal_device_create_params_t* create_params,
                                                  iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  return HAL_CALL(driver, iree_hal_driver, create_device_by_id)(driver, device_id, param_count, params,
                                                                create_params ? create_params : &default_params,
                                                                host_allocator, out_device);
}

iree_status_t iree_hal_driver_create_device_by_path(iree_hal_driver_t* driver, iree_string_view_t driver_name,
                                                    iree_string_view_t device_path, iree_host_size_t param_count,
                                                    const iree_string_pair_t* params,
                                                    const iree_hal_device_create_params_t* create_params,
                                                    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  return HAL_CALL(driver, iree_hal_driver, create_device_by_path)(driver, driver_name, device_path, param_count, params,
                                                                  create_params ? create_params : &default_params,
                                                                  host_allocator, out_device);
}

iree_status_t iree_hal_driver_create_default_device(iree_hal_driver_t* driver,
                                                    const iree_hal_device_create_params_t* create_params,
                                                    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  return iree_hal_driver_create_device_by_id(driver, IREE_HAL_DEVICE_ID_DEFAULT, 0, NULL, create_params, host_allocator,
                                             out_device);
}

iree_status_t iree_hal_driver_create_device_by_ordinal(iree_hal_driver_t* driver, iree_host_size_t device_ordinal,
                                                       iree_host_size_t param_count, const iree_string_pair_t* params,
                                                       const iree_hal_device_create_params_t* create_params,
                                                       iree_allocator_t host_allocator,
                                                       iree_hal_device_t** out_device) {
  *out_device = NULL;
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_driver_query_available_devices(driver, host_allocator, &count, &infos));
  bool in_range = device_ordinal < count;
  iree_hal_device_id_t device_id = in_range ? infos[device_ordinal].device_id : 0;
  iree_allocator_free(host_allocator, infos);
  if (!in_range) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "device ordinal %" PRIhsz " out of range; %" PRIhsz " devices available", device_ordinal,
                            count);
  }
  return iree_hal_driver_create_device_by_id(driver, device_id, param_count, params, create_params, host_allocator,
                                             out_device);
}

//===----------------------------------------------------------------------------------------------------------------===
// URIs: driver[:[//|/]path[?key=value&key=value]]
//===----------------------------------------------------------------------------------------------------------------===

void hal_uri_split(iree_string_view_t uri, iree_string_view_t* out_driver, iree_string_view_t* out_path,
                   iree_string_view_t* out_params) {
  iree_string_view_t rest;
  iree_string_view_split(iree_string_view_trim(uri), ':', out_driver, &rest);
  if (!iree_string_view_consume_prefix(&rest, IREE_SV("//"))) iree_string_view_consume_prefix_char(&rest, '/');
  iree_string_view_split(rest, '?', out_path, out_params);
}

static iree_status_t parse_params(iree_string_view_t text, iree_string_pair_t params[MAX_PARAMS],
                                  iree_host_size_t* out_count) {
  *out_count = 0;
  for (iree_string_view_t rest = text, pair; rest.size;) {
    iree_string_view_split(rest, '&', &pair, &rest);
    if (pair.size == 0) continue;
    if (*out_count == MAX_PARAMS) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a device URI has at most %d parameters", MAX_PARAMS);
    }
    iree_string_view_t key, value;
    iree_string_view_split(pair, '=', &key, &value);
    params[(*out_count)++] = iree_make_string_pair(key, value);
  }
  return iree_ok_status();
}

iree_status_t iree_hal_driver_create_device_by_uri(iree_hal_driver_t* driver, iree_string_view_t device_uri,
                                                   const iree_hal_device_create_params_t* create_params,
                                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  TRACE_SCOPE("create_device");
  *out_device = NULL;
  iree_string_view_t driver_name, path, params_text;
  hal_uri_split(device_uri, &driver_name, &path, &params_text);
  iree_string_pair_t params[MAX_PARAMS];
  iree_host_size_t param_count = 0;
  IREE_RETURN_IF_ERROR(parse_params(params_text, params, &param_count));
  return iree_hal_driver_create_device_by_path(driver, driver_name, path, param_count, params, create_params,
                                               host_allocator, out_device);
}
