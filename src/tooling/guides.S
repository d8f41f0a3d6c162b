// Guides of guides.h.
        .macro text name, file
        .globl guide_\name\()_md
        .hidden guide_\name\()_md
guide_\name\()_md:
        .incbin "tooling/guides/\file"
        .byte 0
        .endm
        .section .rodata
        text profile, profile.md
        text replay, replay.md
        text modules, modules.md
        .section .note.GNU-stack,"",%progbits
