// A tool of a user's: runs the module of its flags.
#include <iree/base/tooling/flags.h>
#include <iree/tooling/context_util.h>
#include <iree/tooling/run_module.h>

int main(int argc, char** argv) {
  iree_vm_instance_t* instance = NULL;
  int exit_code = 1;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = iree_tooling_create_instance(iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) {
    status = iree_tooling_run_module_from_flags(instance, iree_allocator_system(), &exit_code);
  }
  iree_vm_instance_release(instance);
  if (iree_status_is_ok(status)) return exit_code;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
