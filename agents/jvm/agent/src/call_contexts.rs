//! Places: a site, and the calls that led there. They are numbered behind the sites, and written down in the book.

use crate::machine::Jni;
use crate::natives::chain;
use crate::start::Agent;
use runtime::java::SITES;
use runtime::record::CONTEXT_BITS;
use rustc_hash::FxHashMap;

/// Places with calls have numbers behind those of sites, up to what records have room for.
const FIRST: u32 = SITES;
const END: u32 = 1 << CONTEXT_BITS;
/// Calls that are told of a stack.
const DEEPEST: usize = 64;
/// The classes of the agent itself, and the methods that it adds.
const OWN: &[u8] = b"foretrace/agent/";

/// What is known of stacks.
#[derive(Default)]
pub(crate) struct CallContexts {
    /// The site of a place in a method; 0 if it is the agent's own.
    frames: FxHashMap<[i64; 2], u32>,
    /// By caller and site.
    places: FxHashMap<(u32, u32), u32>,
}

/// What the classes of the agent ask for, instead of a site: what the program itself called last.
pub(crate) const CALLED: u32 = u32::MAX;

/// The place where the current thread is. `site` is what it does there; 0: what was called last.
pub(crate) fn place(agent: &Agent, jni: Jni, site: u32) -> Option<u32> {
    let stack = agent.jvmti.stack(DEEPEST);
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
        // The site says better than the frame where in its method it is.
        sites[0] = site;
    }
    let mut caller = 0;
    for site in sites.into_iter().rev() {
        let next = FIRST + contexts.places.len() as u32;
        caller = match contexts.places.get(&(caller, site)) {
            Some(&place) => place,
            None if next < END => {
                contexts.places.insert((caller, site), next);
                agent.classes().call(caller, site);
                next
            }
            None => return None,
        };
    }
    (caller != 0).then_some(caller)
}

/// A new site for a place in a method, unless that is the agent's own.
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
