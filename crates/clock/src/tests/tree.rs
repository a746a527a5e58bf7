//! Tree clocks agree with maps and with flat clocks under the discipline, and are the trees that the paper describes.

use super::naive::Naive;
use super::program::{Program, Step, Twin};
use crate::{Clock, TreeClock, VectorClock};
use event::ThreadId;
use proptest::prelude::*;

/// How many threads there may be, how many start at once, and what they do.
fn programs(len: usize) -> impl Strategy<Value = (usize, usize, Vec<Step>)> {
    let threads = prop_oneof![2..6usize, 2..41usize];
    (threads, 1..41usize, prop::collection::vec(any::<Step>(), 1..len))
}

/// Each thread once, links both ways (both in `walk`), times not 0, children in descending order of attachment, and
/// attached at a time that the parent has reached.
fn check_shape(twin: &Twin<TreeClock>) {
    let nodes = twin.clock.walk();
    assert_eq!(nodes.len(), twin.clock.times().iter().filter(|&&time| time > 0).count());
    for (i, node) in nodes.iter().enumerate() {
        assert!(node.clk > 0);
        if let Some((parent, aclk)) = node.parent {
            assert!(aclk > 0 && aclk <= twin.clock.get(parent));
            if let Some((before, aclk_before)) = nodes[i - 1].parent {
                assert!(before != parent || aclk_before >= aclk, "children in descending order");
            }
        }
    }
}

/// The facts of the paper: a clock that has a node knows all that the node's thread knew at that time (direct
/// monotonicity), and a parent knew its child when the child was attached (indirect monotonicity).
fn check_knowledge(program: &Program<TreeClock>, twin: &Twin<TreeClock>) {
    for node in twin.clock.walk() {
        assert!(program.knew(node.thread, node.clk).le(&twin.naive));
        if let Some((parent, aclk)) = node.parent {
            assert!(program.knew(parent, aclk).get(node.thread) >= node.clk);
        }
    }
}

fn run<C: Clock>(
    (max_threads, at_once, steps): &(usize, usize, Vec<Step>),
    look: &mut impl FnMut(&Program<C>, &Twin<C>),
) {
    let mut program = Program::new(*max_threads, *at_once);
    for &step in steps {
        program.step(step, &mut |program, twin| {
            assert!(twin.naive.is(&twin.clock), "{:?} is not {:?}", twin.clock, twin.naive);
            look(program, twin);
        });
    }
    for twin in program.all() {
        assert_eq!(Naive::of(&twin.clock), twin.naive);
        look(&program, twin);
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(30_000))]

    #[test]
    fn flat_and_tree_clocks_agree_with_maps(program in programs(100)) {
        run::<VectorClock>(&program, &mut |_, _| ());
        run(&program, &mut |_, twin| check_shape(twin));
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn trees_know_what_their_nodes_knew(program in programs(200)) {
        run(&program, &mut |program, twin| check_knowledge(program, twin));
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn long_programs_agree_too(program in programs(3_000)) {
        run(&program, &mut |_, twin| check_shape(twin));
    }
}

#[test]
#[should_panic = "only a thread's own clock is joined into"]
fn a_copy_cannot_be_joined_into() {
    let mut copy = TreeClock::default();
    copy.copy_from(&TreeClock::of_thread(ThreadId(0)));
    copy.join(&TreeClock::of_thread(ThreadId(1)));
}

#[test]
#[should_panic = "a thread's own clock is not overwritten"]
fn a_thread_clock_cannot_be_overwritten() {
    TreeClock::of_thread(ThreadId(0)).copy_from(&TreeClock::of_thread(ThreadId(1)));
}
