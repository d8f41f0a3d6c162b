// The page of `iree-profile report`, which report_page.c fills.
        .section .rodata
        .globl profile_page_html, profile_page_html_end
        .hidden profile_page_html, profile_page_html_end
profile_page_html:
        .incbin "tooling/profile/report.html"
profile_page_html_end:
        .byte 0
        .section .note.GNU-stack,"",%progbits
