// A sequence lock: a writer makes the number odd, writes, and makes it even again; readers try
// again when the number was odd or has changed. The words are relaxed atomics, ordered by fences.
// Beside it, a plain number is published once by fences alone.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>

class SeqLock {
  public:
    using Words = std::array<int, 3>;

    // One writer only.
    void store(const Words &words) {
        const unsigned sequence = sequence_.load(std::memory_order_relaxed);
        sequence_.store(sequence + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        for (std::size_t i = 0; i < words.size(); ++i) {
            words_[i].store(words[i], std::memory_order_relaxed);
        }
        sequence_.store(sequence + 2, std::memory_order_release);
    }

    Words load() const {
        for (;;) {
            const unsigned before = sequence_.load(std::memory_order_acquire);
            Words words{};
            for (std::size_t i = 0; i < words.size(); ++i) {
                words[i] = words_[i].load(std::memory_order_relaxed);
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) {
                return words;
            }
            std::this_thread::yield();
        }
    }

  private:
    std::atomic<unsigned> sequence_{0};
    std::array<std::atomic<int>, 3> words_{};
};

int calibration = 0;
std::atomic<int> calibrated{0};

__attribute__((noinline)) void calibrate(int value) {
    calibration = value;
    std::atomic_thread_fence(std::memory_order_release);  // before the flag
    calibrated.store(1, std::memory_order_relaxed);
}

__attribute__((noinline)) int await_calibration() {
    while (calibrated.load(std::memory_order_relaxed) == 0) {
        std::this_thread::yield();
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return calibration;
}

int main() {
    SeqLock position;
    std::array<int, 2> torn{};
    auto read = [&position](int &faults) {
        const int offset = await_calibration();
        for (int i = 0; i < 30; ++i) {
            const SeqLock::Words now = position.load();
            faults += now[1] != 2 * now[0] || now[2] != 3 * now[0] ? 1 : 0;
        }
        faults += offset == 7 ? 0 : 1;
    };
    std::thread first(read, std::ref(torn[0]));
    std::thread second(read, std::ref(torn[1]));
    std::thread writer([&position] {
        calibrate(7);
        for (int i = 1; i <= 30; ++i) {
            position.store({i, 2 * i, 3 * i});
        }
    });
    writer.join();
    first.join();
    second.join();
    std::printf("%d torn\n", torn[0] + torn[1]);
    return 0;
}
