//! The observer against an agent without a program. The program is this test itself, started once more with the name of
//! a scene.

mod agent;
mod announced;
mod barriers;
mod bulk;
mod deferred;
mod full_disk;
mod handlers;
mod hostile;
mod lives;
mod memory;
mod neighbours;
mod order;
mod scenes;
mod support;

/// Plays the watched program: not a test by itself.
#[test]
fn program() {
    let Ok(name) = std::env::var(support::SCENE) else { return };
    match support::SCENES.iter().find(|scene| scene.0 == name) {
        Some(scene) => (scene.1)(),
        None => panic!("there is no scene {name}"),
    }
    std::process::exit(7);
}
