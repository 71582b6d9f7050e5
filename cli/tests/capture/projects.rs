//! Whole projects: a configure script with make, CMake, and Meson, with libraries of their own.

use crate::sandbox::Sandbox;

const SOURCES: &[(&str, &str)] = &[
    (
        "src/main.c",
        "#include <stdio.h>\n#include \"config.h\"\nint twice(int);\nint assembled(void);\n#ifndef HAVE_PTHREAD\n#error configure did not find pthread\n#endif\nint main(void) { printf(\"%d %d\\n\", twice(21), assembled()); return 0; }\n",
    ),
    ("src/twice.c", "int twice(int x) { return 2 * x; }\n"),
    (
        "src/assembled.S",
        "#define RESULT $7\n.text\n.globl assembled\nassembled:\n  mov RESULT, %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n",
    ),
    ("src/plus.cpp", "#include <iostream>\nextern \"C\" int twice(int);\nint main() { std::cout << twice(4) << std::endl; }\n"),
];

const CONFIGURE: &str = r#"#!/bin/sh
# Looks at the compiler the way generated configure scripts do: does it work, is it quiet, is it GNU, what does it have.
: "${CC:=cc}"
fail() { echo "configure: $*" >&2; exit 1; }
mkdir -p conftest.dir && cd conftest.dir || exit 1
echo 'int main(void) { return 0; }' > conftest.c
$CC conftest.c || fail "C compiler cannot create executables"
[ -f a.out ] && ./a.out || fail "a.out does not run"
$CC -c conftest.c 2> conftest.err && [ -f conftest.o ] || fail "cannot compile"
[ -s conftest.err ] && fail "the compiler is not quiet"
echo 'nonsense' > conftest.c
$CC -c conftest.c 2> /dev/null && fail "nonsense compiles"
printf '#ifndef __GNUC__\n#error no\n#endif\n' > conftest.c
$CC -E conftest.c > /dev/null || fail "not a GNU compiler"
echo 'char no_such_function(void); int main(void) { return no_such_function(); }' > conftest.c
$CC conftest.c -o conftest 2> /dev/null && fail "links what does not exist"
printf '#include <pthread.h>\nint main(void) { return pthread_self() == 0; }\n' > conftest.c
$CC -Werror conftest.c -o conftest -pthread 2> conftest.err && have_pthread=1
cd .. && rm -rf conftest.dir
[ -n "$have_pthread" ] && echo '#define HAVE_PTHREAD 1' > config.h
sed "s|@CC@|$CC|" Makefile.in > Makefile
"#;

const MAKEFILE: &str = "CC = @CC@
CFLAGS = -O2 -Wall -Werror -I. -MMD
app: main.o libtwice.a assembled.o
\t$(CC) $(CFLAGS) -o $@ main.o assembled.o -L. -ltwice
%.o: src/%.c
\t$(CC) $(CFLAGS) -c $< -o $@
%.o: src/%.S
\t$(CC) -c $<
libtwice.a: twice.o
\tar cru $@ $^
\tranlib $@
";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.13)
project(parts C CXX ASM)
find_package(Threads REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/config.h \"#define HAVE_PTHREAD 1\\n\")
include_directories(${CMAKE_BINARY_DIR})
add_library(twice STATIC src/twice.c)
add_executable(app src/main.c src/assembled.S)
target_link_libraries(app twice Threads::Threads)
add_executable(plus src/plus.cpp)
target_link_libraries(plus twice)
";

const MESON: &str = "project('parts', 'c', 'cpp', default_options: ['buildtype=debugoptimized'])
configure_file(output: 'config.h', configuration: {'HAVE_PTHREAD': 1})
threads = dependency('threads')
twice = static_library('twice', 'src/twice.c')
executable('app', 'src/main.c', 'src/assembled.S', link_with: twice, dependencies: threads)
executable('plus', 'src/plus.cpp', link_with: twice, dependencies: threads)
";

#[test]
fn a_configure_script_and_make_build_a_program_that_makes_its_round_trip() {
    let sandbox = Sandbox::new(SOURCES);
    sandbox.write("configure", CONFIGURE);
    sandbox.write("Makefile.in", MAKEFILE);
    sandbox.shell("CC='atomfix cc' sh ./configure && make").good();
    sandbox.check_round_trip("app", &["main.c", "twice.c"]);
    let depends = sandbox.read("twice.d");
    assert!(depends.starts_with("twice.o: src/twice.c"), "{depends}");
}

#[test]
fn cmake_builds_programs_that_make_their_round_trip() {
    let sandbox = Sandbox::new(SOURCES);
    sandbox.write("CMakeLists.txt", CMAKE);
    for (folder, compilers) in [("by command", "CC='atomfix cc' CXX='atomfix c++'"), ("by name", "CC=atomfix-cc CXX=atomfix-c++")] {
        sandbox.shell(&format!("{compilers} cmake -S . -B '{folder}' -DCMAKE_BUILD_TYPE=Release && cmake --build '{folder}'")).good();
        sandbox.check_round_trip(&format!("{folder}/app"), &["main.c", "twice.c"]);
        sandbox.check_round_trip(&format!("{folder}/plus"), &["plus.cpp", "twice.c"]);
    }
}

#[test]
fn meson_builds_programs_that_make_their_round_trip() {
    let sandbox = Sandbox::new(SOURCES);
    sandbox.write("meson.build", MESON);
    for (folder, compilers) in [("by command", "CC='atomfix cc' CXX='atomfix c++'"), ("by name", "CC=atomfix-cc CXX=atomfix-c++")] {
        sandbox.shell(&format!("{compilers} meson setup '{folder}' && ninja -C '{folder}'")).good();
        sandbox.check_round_trip(&format!("{folder}/app"), &["main.c", "twice.c"]);
        sandbox.check_round_trip(&format!("{folder}/plus"), &["plus.cpp", "twice.c"]);
    }
}
