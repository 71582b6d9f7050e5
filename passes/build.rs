//! Builds the C++ shims and the plugin's registration (`src/llvm/*.cpp`) against the LLVM that inkwell links.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/llvm/fields.cpp");
    println!("cargo:rerun-if-changed=src/llvm/shim.cpp");
    println!("cargo:rerun-if-changed=src/llvm/plugin.cpp");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    let prefix = std::env::var_os("LLVM_SYS_221_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let config = prefix.join("bin/llvm-config");
    let output = Command::new(&config).arg("--includedir").output();
    let include = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => panic!("{} does not run: install llvm-22-dev, or set LLVM_SYS_221_PREFIX", config.display()),
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("src/llvm/fields.cpp")
        .file("src/llvm/shim.cpp")
        .file("src/llvm/plugin.cpp")
        .flag(format!("-isystem{include}"))
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .opt_level(1)
        .compile("atomfix_llvm_shim");
}
