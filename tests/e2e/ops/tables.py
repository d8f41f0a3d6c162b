"""All the tables of cases, in the order in which they run."""

import cases_elementwise  # noqa: F401
import cases_reduce  # noqa: F401
import cases_matmul  # noqa: F401
import cases_conv  # noqa: F401
import cases_norm  # noqa: F401
import cases_move  # noqa: F401
import cases_gather  # noqa: F401
import cases_cast  # noqa: F401
import cases_quantize  # noqa: F401
import cases_contrib  # noqa: F401
import cases_recurrent  # noqa: F401
import cases_control  # noqa: F401
import cases_dynamic  # noqa: F401
import cases_open  # noqa: F401
import cases_exports  # noqa: F401
import cases_ml  # noqa: F401
import cases_sequence  # noqa: F401
import cases_state  # noqa: F401
import cases_strings  # noqa: F401
