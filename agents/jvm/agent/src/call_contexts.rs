//! Call contexts: a site, and the calls that led there. They are numbered after the sites, and written to the
//! metadata log.

use crate::machine::{Jni, Reference};
use crate::natives::chain;
use crate::start::Agent;
use runtime::java::{GUESSED, SITES};
use rustc_hash::FxHashMap;

/// The numbers of call contexts begin after those of sites, and end where a bit says that they are guessed.
const FIRST: u32 = SITES;
const END: u32 = GUESSED;
/// How many calls of a stack are recorded.
const DEEPEST: usize = 64;
/// How the names of the agent's own classes begin.
const OWN: &[u8] = b"foretrace/agent/";

/// All call contexts that were seen.
#[derive(Default)]
pub(crate) struct CallContexts {
    /// The site of a position in a method; 0 if the method is the agent's own.
    frames: FxHashMap<[i64; 2], u32>,
    /// By the caller's context and the site.
    contexts: FxHashMap<(u32, u32), u32>,
}

/// Instead of a site: the last call that the program itself made.
pub(crate) const CALLED: u32 = u32::MAX;

/// The call context of the current thread. `site` is what it does there; 0 is the last call.
pub(crate) fn call_context(agent: &Agent, jni: Jni, site: u32) -> Option<u32> {
    call_context_of(agent, jni, std::ptr::null_mut(), site)
}

/// The call context of a thread (null: the current one).
pub(crate) fn call_context_of(agent: &Agent, jni: Jni, thread: Reference, site: u32) -> Option<u32> {
    let stack = agent.jvmti.stack(thread, DEEPEST);
    let mut contexts = agent.contexts();
    let mut sites = Vec::with_capacity(stack.len());
    for frame in stack {
        let known = match contexts.frames.get(&frame) {
            Some(&known) => known,
            None => {
                let known = site_of(agent, jni, frame).unwrap_or(0);
                contexts.frames.insert(frame, known);
                known
            }
        };
        if known != 0 {
            sites.push(known);
        }
    }
    if site == CALLED {
        let classes = agent.classes();
        let own = sites.iter().position(|&site| classes.is_program(site));
        sites.drain(..own.unwrap_or(0));
    } else if site != 0 && !sites.is_empty() {
        // What a call does may be recorded inside of it, by methods of the JDK.
        let classes = agent.classes();
        let own = sites.iter().position(|&frame| classes.is_of_one_class(frame, site));
        sites.drain(..own.unwrap_or(0));
        drop(classes);
        // The site knows the line in its method better than the frame does.
        sites[0] = site;
    }
    let mut caller = 0;
    for site in sites.into_iter().rev() {
        let next = FIRST + contexts.contexts.len() as u32;
        caller = match contexts.contexts.get(&(caller, site)) {
            Some(&context) => context,
            None if next < END => {
                contexts.contexts.insert((caller, site), next);
                agent.classes().call(caller, site);
                next
            }
            None => return None,
        };
    }
    (caller != 0).then_some(caller)
}

/// A new site for a position in a method, unless the method is the agent's own.
fn site_of(agent: &Agent, jni: Jni, [method, at]: [i64; 2]) -> Option<u32> {
    let jvmti = agent.jvmti;
    let class = jvmti.method_class(method)?;
    let name = jvmti.method_name(method)?;
    let chain = chain(jvmti, jni, class);
    let (loader, class_name) = chain.first()?;
    if class_name.starts_with(OWN) || name.starts_with(weave::ADDED.as_bytes()) {
        return None;
    }
    let (line, source) = (jvmti.line(method, at), jvmti.source(class));
    let mut classes = agent.classes();
    let (number, _) = classes.class_number(*loader, class_name, None);
    Some(classes.frame(number, &name, line, source))
}
