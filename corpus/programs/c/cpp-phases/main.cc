// Heat along a rod, in steps of two phases: compute from the old values, then put the new ones in
// their place. A barrier ends each phase. A latch says that all workers have set up their parts,
// and a semaphore lets one of them at a time use the only scratch buffer.
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

constexpr std::size_t workers = 2;
constexpr std::size_t cells = 16;
constexpr int steps = 6;

struct Counter {
    int *phases;
    void operator()() noexcept { ++*phases; }  // by the last who arrives, before any goes on
};

class Rod {
  public:
    void set_up(std::size_t from, std::size_t to);
    void compute(std::size_t from, std::size_t to);
    void replace(std::size_t from, std::size_t to);
    const std::vector<double> &heat() const { return heat_; }

  private:
    std::vector<double> heat_ = std::vector<double>(workers * cells + 2);
    std::vector<double> next_ = std::vector<double>(workers * cells + 2);
};

__attribute__((noinline)) void Rod::set_up(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        heat_[i] = i % 5 == 0 ? 100.0 : 0.0;
    }
}

__attribute__((noinline)) void Rod::compute(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        next_[i] = heat_[i] + 0.25 * (heat_[i - 1] - 2 * heat_[i] + heat_[i + 1]);
    }
}

__attribute__((noinline)) void Rod::replace(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        heat_[i] = next_[i];
    }
}

int main() {
    Rod rod;
    int phases = 0;
    std::vector<double> scratch;
    double warmest = 0;
    std::latch ready(workers);
    std::barrier sync(static_cast<std::ptrdiff_t>(workers), Counter{&phases});
    std::counting_semaphore<1> scratch_free(1);

    auto work = [&](std::size_t index) {
        const std::size_t from = 1 + index * cells;
        const std::size_t to = from + cells;
        rod.set_up(from, to);
        ready.arrive_and_wait();
        for (int step = 0; step < steps; ++step) {
            rod.compute(from, to);
            sync.arrive_and_wait();  // all have read the old values
            rod.replace(from, to);
            sync.arrive_and_wait();
        }
        scratch_free.acquire();
        scratch.assign(rod.heat().begin() + static_cast<std::ptrdiff_t>(from),
                       rod.heat().begin() + static_cast<std::ptrdiff_t>(to));
        for (double value : scratch) {
            warmest = std::fmax(warmest, value);
        }
        scratch_free.release();
    };
    std::thread first(work, 0);
    std::thread second(work, 1);
    first.join();
    second.join();
    std::printf("%d phases, warmest %.1f\n", phases, warmest);
    return 0;
}
