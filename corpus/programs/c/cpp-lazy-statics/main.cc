// Everything that is made late, made right: a static of a function, std::call_once, double-checked
// locking with an atomic, and thread-local tallies whose destructors add to a total under a lock.
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Settings {
  public:
    Settings() : name_("settings-made-once-by-a-static"), scale_(3) {}

    int scale() const { return scale_; }
    std::size_t length() const { return name_.size(); }

    static const Settings &get() {
        static const Settings settings;  // the compiler's guard
        return settings;
    }

  private:
    std::string name_;
    int scale_;
};

std::once_flag squares_once;
std::array<int, 16> squares;

int square(int number) {
    std::call_once(squares_once, [] {
        for (std::size_t i = 0; i < squares.size(); ++i) {
            squares[i] = static_cast<int>(i * i);
        }
    });
    return squares[static_cast<std::size_t>(number)];
}

std::atomic<std::vector<int> *> primes{nullptr};
std::mutex primes_lock;

const std::vector<int> &get_primes() {
    std::vector<int> *found = primes.load(std::memory_order_acquire);
    if (found == nullptr) {
        std::lock_guard<std::mutex> hold(primes_lock);
        found = primes.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = new std::vector<int>{2, 3, 5, 7, 11, 13};
            primes.store(found, std::memory_order_release);
        }
    }
    return *found;
}

std::mutex total_lock;
long total = 0;

__attribute__((noinline)) void add_to_total(long amount) {
    std::lock_guard<std::mutex> hold(total_lock);
    total += amount;
}

class Tally {
  public:
    ~Tally() { add_to_total(sum_); }
    void add(long amount) { sum_ += amount; }

  private:
    long sum_ = 0;
};

thread_local Tally tally;

void work(int number) {
    for (int prime : get_primes()) {
        tally.add(static_cast<long>(square(number)) * prime * Settings::get().scale());
    }
    tally.add(static_cast<long>(Settings::get().length()));
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back(work, i + 1);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    delete primes.load();
    std::printf("total %ld\n", total);
    return 0;
}
