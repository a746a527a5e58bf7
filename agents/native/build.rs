//! Names the library, so that it can stand in for libtsan under another file name.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libforetrace_native.so");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete,-z,now");
}
