
/* Where programs of rustc's count that nobody told where. Each object of rustc's says so in a group of this name, of which the
 * linker takes the first: ours. */
__asm__(".pushsection .rodata.__llvm_profile_filename,\"aG\",@progbits,__llvm_profile_filename,comdat\n"
        ".hidden __llvm_profile_filename\n"
        ".globl __llvm_profile_filename\n"
        ".type __llvm_profile_filename, @object\n"
        "__llvm_profile_filename:\n"
        ".asciz \"" GIT_RTS_PLACE "/%c%m-%p.profraw\"\n"
        ".size __llvm_profile_filename, . - __llvm_profile_filename\n"
        ".popsection\n");
