//! The links of `std::list`. libstdc++ changes them in its library, where no hook sees it, while the program's own code
//! reads them.
//!
//! The functions are implemented here, not only recorded: a program may have them from a static library, where there is
//! no real function to call. What they do is fixed by the library's binary interface.

use super::{has_hooks, record};
use crate::machine::{shim1, shim2, shim3};

shim1! {
    _ZNSt8__detail15_List_node_base9_M_unhookEv => unhook;
}
shim2! {
    _ZNSt8__detail15_List_node_base7_M_hookEPS0_ => hook;
}
shim3! {
    _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_ => transfer;
}

/// A node's links: `std::__detail::_List_node_base`.
#[repr(C)]
pub(super) struct Node {
    next: *mut Node,
    previous: *mut Node,
}

type Link = *mut *mut Node;

/// Records accesses of links.
fn accessed(pc: usize, links: &[Link], write: bool) {
    if has_hooks() {
        record(pc, |thread| {
            for &link in links {
                thread.record_range(link as usize, size_of::<Link>(), write);
            }
        });
    }
}

/// Puts a node before another.
unsafe extern "C" fn hook(node: *mut Node, before: *mut Node, pc: usize) {
    accessed(pc, &[&raw mut (*before).previous], false);
    let previous = (*before).previous;
    let links =
        [&raw mut (*node).next, &raw mut (*node).previous, &raw mut (*previous).next, &raw mut (*before).previous];
    accessed(pc, &links, true);
    (*node).next = before;
    (*node).previous = previous;
    (*previous).next = node;
    (*before).previous = node;
}

/// Takes a node out.
unsafe extern "C" fn unhook(node: *mut Node, pc: usize) {
    accessed(pc, &[&raw mut (*node).next, &raw mut (*node).previous], false);
    let (next, previous) = ((*node).next, (*node).previous);
    accessed(pc, &[&raw mut (*previous).next, &raw mut (*next).previous], true);
    (*previous).next = next;
    (*next).previous = previous;
}

/// Moves the nodes from `first` to the one before `last` before a node.
unsafe extern "C" fn transfer(before: *mut Node, first: *mut Node, last: *mut Node, pc: usize) {
    if before == last {
        return;
    }
    let ends = [&raw mut (*before).previous, &raw mut (*first).previous, &raw mut (*last).previous];
    accessed(pc, &ends, false);
    let [to, from, end] = ends.map(|link| *link);
    accessed(pc, &[&raw mut (*end).next, &raw mut (*from).next, &raw mut (*to).next], true);
    accessed(pc, &ends, true);
    (*end).next = before;
    (*from).next = last;
    (*to).next = first;
    (*before).previous = end;
    (*last).previous = from;
    (*first).previous = to;
}
