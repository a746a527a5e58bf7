// Two threads, each with an int of its own in one 8-byte word, and a third that both change under
// a spin lock made of an atomic flag. They start together on an atomic that main() notifies.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

class SpinLock {
  public:
    void lock() {
        while (flag_.test_and_set(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
    }

    void unlock() { flag_.clear(std::memory_order_release); }

  private:
    std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

struct alignas(8) Pair {
    int left = 0;
    int right = 0;
};

Pair pair;
SpinLock sum_lock;
int sum = 0;
std::atomic<int> gate{0};

__attribute__((noinline)) void bump_left() { ++pair.left; }

__attribute__((noinline)) void bump_right() { ++pair.right; }

void add(int amount) {
    std::lock_guard<SpinLock> hold(sum_lock);
    sum += amount;
}

int main() {
    std::thread left([] {
        gate.wait(0, std::memory_order_acquire);
        for (int i = 0; i < 50; ++i) {
            add(1);
            bump_left();
        }
    });
    std::thread right([] {
        gate.wait(0, std::memory_order_acquire);
        for (int i = 0; i < 50; ++i) {
            add(2);
            bump_right();
        }
    });
    gate.store(1, std::memory_order_release);
    gate.notify_all();
    left.join();
    right.join();
    std::printf("%d %d %d\n", pair.left, pair.right, sum);
    return 0;
}
