/**
 * A tree is walked under a monitor that each level takes again; bad nodes throw out of all of them, and the lock must
 * be free after it.
 */
class Node {
    final int value;
    final Node left;
    final Node right;

    Node(int value, Node left, Node right) {
        this.value = value;
        this.left = left;
        this.right = right;
    }

    static Node grow(int depth, int value) {
        return depth == 0 ? null : new Node(value, grow(depth - 1, 2 * value), grow(depth - 1, 2 * value + 1));
    }
}

class BadNode extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadNode(String message) {
        super(message);
    }
}

class Walker {
    private int visited;
    private int failed;
    private int calls;

    void note() {
        synchronized (this) {
            calls++;
        }
    }

    /** Throws from any depth of recursion, out of as many synchronized calls. */
    synchronized void walk(Node node, int bad) {
        if (node == null) {
            return;
        }
        if (node.value == bad) {
            throw new BadNode("node " + bad);
        }
        visited++;
        walk(node.left, bad);
        walk(node.right, bad);
    }

    void tryWalk(Node root, int bad) {
        try {
            synchronized (this) {
                walk(root, bad);
            }
        } catch (BadNode e) {
            synchronized (this) {
                failed++;
            }
        }
    }

    synchronized String summary() {
        return "visited " + visited + " failed " + failed + " calls " + calls;
    }
}

public class Main {
    static final Walker walker = new Walker();
    static final Node root = Node.grow(4, 1);

    static void odd() {
        walker.note();
        walker.tryWalk(root, 5);
        walker.tryWalk(root, 15);
    }

    static void even() {
        walker.note();
        walker.tryWalk(root, 4);
        walker.tryWalk(root, 0);
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::odd);
        Thread two = new Thread(Main::even);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(walker.summary());
    }
}
