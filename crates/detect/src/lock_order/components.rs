//! Strongly connected components (Tarjan), without recursion: a trace may chain any number of locks.

const NEW: u32 = u32::MAX;

/// The components of a graph with nodes `0..nodes` and these edges, which are in order.
pub(crate) fn components(nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut first = vec![0usize; nodes + 1];
    edges.iter().for_each(|edge| first[edge.0 as usize + 1] += 1);
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut number = vec![NEW; nodes];
    let mut low = vec![0u32; nodes];
    let mut on_stack = vec![false; nodes];
    let (mut stack, mut calls, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut count = 0;
    for root in 0..nodes as u32 {
        if number[root as usize] == NEW {
            calls.push((root, first[root as usize]));
        }
        while let Some(&(node, edge)) = calls.last() {
            let at = node as usize;
            if number[at] == NEW {
                (number[at], low[at], on_stack[at]) = (count, count, true);
                count += 1;
                stack.push(node);
            }
            if edge < first[at + 1] {
                if let Some(call) = calls.last_mut() {
                    call.1 += 1;
                }
                let to = edges[edge].1 as usize;
                if number[to] == NEW {
                    calls.push((to as u32, first[to]));
                } else if on_stack[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller as usize] = low[caller as usize].min(low[at]);
            }
            if low[at] == number[at] {
                let begin = stack.iter().rposition(|&other| other == node).unwrap_or(0);
                let component = stack.split_off(begin);
                component.iter().for_each(|&other| on_stack[other as usize] = false);
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_are_the_nodes_that_reach_each_other() {
        let mut found = components(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0), (5, 6)]);
        found.iter_mut().for_each(|nodes| nodes.sort_unstable());
        found.sort_unstable();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4], vec![5], vec![6]]);
    }

    #[test]
    fn a_long_chain_is_no_trouble() {
        let mut edges: Vec<_> = (0..300_000).map(|node| (node, node + 1)).collect();
        assert_eq!(components(300_001, &edges).len(), 300_001);
        edges.push((300_000, 0));
        assert_eq!(components(300_001, &edges).len(), 1);
    }
}
