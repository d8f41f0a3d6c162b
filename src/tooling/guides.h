// How tools are used, in Markdown: what --agents_md prints before the flags (flags_set_guide).
#ifndef TOOLING_GUIDES_H_
#define TOOLING_GUIDES_H_

#include "base/flag_table.h"

extern const char guide_profile_md[], guide_replay_md[], guide_modules_md[];

#endif  // TOOLING_GUIDES_H_
