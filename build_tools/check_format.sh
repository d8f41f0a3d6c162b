#!/bin/bash
# Fails when a tracked C file is not as clang-format leaves it, a script does not parse, or a text line is too long.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

complain() {
  echo "check_format: $*" >&2
  failed=1
}

if ! git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 -r clang-format-22 --dry-run -Werror 2>build/format.log; then
  grep -oE '^[^:]+:[0-9]+' build/format.log | sort -u | head -n 20 >&2
  complain "run 'make format'"
fi
while read -r script; do
  bash -n "$script" || complain "$script does not parse"
done < <(git ls-files '*.sh' .ci/run)
long=$(git ls-files -z '*.c' '*.h' '*.cpp' '*.py' '*.sh' | xargs -0 -r python3 -c '
import sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        limit = 2000 if path.startswith("tests/") and path.endswith(".py") else 120  # tables of cases
        if len(line.rstrip("\n")) > limit or line.rstrip("\n") != line.rstrip():
            print(f"{path}:{number}: longer than {limit} characters, or white space at its end")
')
[ -z "$long" ] || complain "$long"
exit $failed
