"""What the programs of this folder expect, counted."""

passed = failed = 0


def expect(what, is_right, detail=""):
    global passed, failed
    passed += bool(is_right)
    failed += not is_right
    if not is_right:
        print(f"FAILED {what}: {str(detail)[:1000]}")


def report():
    """Prints the counts; the exit code."""
    print(f"{passed} passed, {failed} failed")
    return failed != 0
