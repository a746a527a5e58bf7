// Treiber's stack: push and pop by compare-and-swap of its head. Popped nodes are not given back
// before all threads were joined, so that no address comes twice (no ABA problem) and nobody
// reads a node that is gone.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

struct Node {
    int value;
    Node *next;
};

class Stack {
  public:
    void push(int value);
    Node *pop();

  private:
    std::atomic<Node *> head_{nullptr};
};

__attribute__((noinline)) void Stack::push(int value) {
    Node *node = new Node{value, head_.load(std::memory_order_relaxed)};
    // Release: who takes the node sees its fields. Later exchanges by others carry that on.
    while (!head_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        // Also without the release, the compiler keeps the new link before the next try.
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
}

__attribute__((noinline)) Node *Stack::pop() {
    Node *node = head_.load(std::memory_order_acquire);
    while (node != nullptr &&
           !head_.compare_exchange_weak(node, node->next, std::memory_order_acquire)) {
    }
    return node;
}

constexpr int producers = 2;
constexpr int each = 50;

int main() {
    Stack stack;
    std::atomic<int> taken{0};
    std::vector<std::vector<Node *>> popped(2);
    std::vector<std::thread> threads;
    for (std::vector<Node *> &own : popped) {
        threads.emplace_back([&stack, &taken, &own] {
            while (taken.load(std::memory_order_relaxed) < producers * each) {
                if (Node *node = stack.pop()) {
                    own.push_back(node);
                    taken.fetch_add(1, std::memory_order_relaxed);
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&stack, p] {
            for (int i = 1; i <= each; ++i) {
                stack.push(p * each + i);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    long sum = 0;
    for (const std::vector<Node *> &own : popped) {
        for (Node *node : own) {
            sum += node->value;
            delete node;
        }
    }
    std::printf("sum %ld\n", sum);
    return 0;
}
