//! Hands the pinned version of redis-rs to the program.

fn main() {
    println!("cargo:rerun-if-changed=Cargo.toml");
    let manifest = std::fs::read_to_string("Cargo.toml").expect("Cargo.toml");
    let line = manifest.lines().find(|line| line.starts_with("redis = ")).expect("redis in Cargo.toml");
    let version = line.split('"').nth(1).expect("a version").trim_start_matches('=');
    println!("cargo:rustc-env=REDIS_RS={version}");
}
