// A pool of workers that steal from each other. A worker takes from the back of its own queue,
// a thief from the front of another's, if it gets that lock at once. Tasks are move-only and keep
// what they do in a buffer of their own, made there by placement new. It sorts an array and adds
// it up, both by splitting.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// ---------------------------------------------------------------------------------------------
// A task: any small callable, moved from queue to queue and called once

class Task {
  public:
    Task() = default;

    template <class Callable, class = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, Task>>>
    explicit Task(Callable &&callable) {
        using Held = std::decay_t<Callable>;
        static_assert(sizeof(Held) <= sizeof(room_) && alignof(Held) <= alignof(std::max_align_t));
        new (room_) Held(std::forward<Callable>(callable));
        actions_ = &actions_of<Held>;
    }

    Task(Task &&other) noexcept { take(other); }

    Task &operator=(Task &&other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }

    ~Task() { clear(); }

    explicit operator bool() const { return actions_ != nullptr; }

    void operator()() { actions_->call(room_); }

  private:
    struct Actions {
        void (*call)(void *);
        void (*move)(void *from, void *to);
        void (*destroy)(void *);
    };

    template <class Held> static void call(void *room) {
        (*std::launder(static_cast<Held *>(room)))();
    }

    template <class Held> static void move(void *from, void *to) {
        Held *held = std::launder(static_cast<Held *>(from));
        new (to) Held(std::move(*held));
        held->~Held();
    }

    template <class Held> static void destroy(void *room) {
        std::launder(static_cast<Held *>(room))->~Held();
    }

    template <class Held>
    static constexpr Actions actions_of{&Task::call<Held>, &Task::move<Held>, &Task::destroy<Held>};

    void take(Task &other) {
        if (other.actions_ != nullptr) {
            other.actions_->move(other.room_, room_);
            actions_ = std::exchange(other.actions_, nullptr);
        }
    }

    void clear() {
        if (actions_ != nullptr) {
            std::exchange(actions_, nullptr)->destroy(room_);
        }
    }

    alignas(std::max_align_t) unsigned char room_[64];
    const Actions *actions_ = nullptr;
};

// ---------------------------------------------------------------------------------------------
// What the workers did, added up when they retire

struct Totals {
    int executed = 0;
};

std::mutex totals_lock;
Totals totals;

__attribute__((noinline)) void retire(int executed) {
    std::lock_guard<std::mutex> hold(totals_lock);
    totals.executed += executed;
}

// ---------------------------------------------------------------------------------------------
// The pool

class Pool {
  public:
    explicit Pool(std::size_t workers) {
        for (std::size_t i = 0; i < workers; ++i) {
            queues_.push_back(std::make_unique<Queue>());
        }
        for (std::size_t i = 0; i < workers; ++i) {
            threads_.emplace_back([this, i] { work(i); });
        }
    }

    ~Pool() { stop(); }

    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    // From a worker into its own queue, from outside into the queues in turn.
    template <class Callable> void submit(Callable &&callable) {
        Task task(std::forward<Callable>(callable));
        const std::size_t target = current_ != none ? current_ : next_.fetch_add(1) % queues_.size();
        {
            std::lock_guard<std::mutex> hold(queues_[target]->lock);
            queues_[target]->tasks.push_back(std::move(task));
        }
        std::lock_guard<std::mutex> hold(sleep_lock_);
        ++available_;
        wake_.notify_one();
    }

    void stop() {
        {
            std::lock_guard<std::mutex> hold(sleep_lock_);
            stopping_ = true;
            wake_.notify_all();
        }
        for (std::thread &thread : threads_) {
            if (thread.joinable()) {
                thread.join();
            }
        }
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Queue {
        std::mutex lock;
        std::deque<Task> tasks;
    };

    Task take_own(std::size_t index) {
        Queue &queue = *queues_[index];
        std::lock_guard<std::mutex> hold(queue.lock);
        Task task;
        if (!queue.tasks.empty()) {
            task = std::move(queue.tasks.back());
            queue.tasks.pop_back();
        }
        return task;
    }

    Task steal(std::size_t thief) {
        for (std::size_t i = 1; i < queues_.size(); ++i) {
            Queue &victim = *queues_[(thief + i) % queues_.size()];
            std::unique_lock<std::mutex> hold(victim.lock, std::try_to_lock);
            if (hold.owns_lock() && !victim.tasks.empty()) {
                Task task = std::move(victim.tasks.front());
                victim.tasks.pop_front();
                return task;
            }
        }
        return Task();
    }

    // Sleeps until there is a task somewhere; false when there will be none any more.
    bool reserve() {
        std::unique_lock<std::mutex> hold(sleep_lock_);
        wake_.wait(hold, [this] { return stopping_ || available_ > 0; });
        if (available_ == 0) {
            return false;
        }
        --available_;
        return true;
    }

    void work(std::size_t index) {
        current_ = index;
        int executed = 0;
        while (reserve()) {
            // One of the tasks is this worker's; a failed try-lock only means to look again.
            Task task = take_own(index);
            while (!task) {
                task = steal(index);
                if (!task) {
                    std::this_thread::yield();
                    task = take_own(index);
                }
            }
            task();
            ++executed;
        }
        retire(executed);
    }

    static thread_local std::size_t current_;

    std::vector<std::unique_ptr<Queue>> queues_;
    std::atomic<std::size_t> next_{0};
    std::mutex sleep_lock_;
    std::condition_variable wake_;
    int available_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

thread_local std::size_t Pool::current_ = Pool::none;

// ---------------------------------------------------------------------------------------------
// Groups: who started tasks can wait for all of them

class Group {
  public:
    explicit Group(Pool &pool) : pool_(pool) {}

    template <class Callable> void run(Callable callable) {
        open_.fetch_add(1, std::memory_order_relaxed);
        pool_.submit([this, callable = std::move(callable)]() mutable {
            callable();
            finish_one();
        });
    }

    void wait() {
        std::unique_lock<std::mutex> hold(lock_);
        done_.wait(hold, [this] { return finished_; });
    }

  private:
    void finish_one() {
        // The last one has seen what all others did, and tells it on by the lock.
        if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            std::lock_guard<std::mutex> hold(lock_);
            finished_ = true;
            done_.notify_all();
        }
    }

    Pool &pool_;
    std::atomic<int> open_{0};
    std::mutex lock_;
    std::condition_variable done_;
    bool finished_ = false;
};

// ---------------------------------------------------------------------------------------------
// What is computed

using Iterator = std::vector<std::int32_t>::iterator;

constexpr std::ptrdiff_t small = 24;

// The halves are sorted by tasks; the thread that finishes the second half merges.
struct Merge {
    Merge(std::shared_ptr<Merge> above, Iterator from, Iterator middle, Iterator to)
        : parent(std::move(above)), first(from), mid(middle), last(to) {}

    std::shared_ptr<Merge> parent;
    Iterator first;
    Iterator mid;
    Iterator last;
    std::atomic<int> missing{2};
};

void half_sorted(std::shared_ptr<Merge> merge) {
    while (merge != nullptr && merge->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::inplace_merge(merge->first, merge->mid, merge->last);
        merge = merge->parent;
    }
}

void sort_part(Group &group, std::shared_ptr<Merge> parent, Iterator first, Iterator last) {
    if (last - first <= small) {
        std::sort(first, last);
        half_sorted(std::move(parent));
        return;
    }
    const Iterator mid = first + (last - first) / 2;
    auto merge = std::make_shared<Merge>(std::move(parent), first, mid, last);
    group.run([&group, merge, first, mid] { sort_part(group, merge, first, mid); });
    group.run([&group, merge, mid, last] { sort_part(group, merge, mid, last); });
}

std::vector<std::int32_t> numbers(std::size_t count) {
    std::vector<std::int32_t> values(count);
    std::uint32_t state = 12345;
    for (std::int32_t &value : values) {
        state = state * 1103515245U + 12345U;
        value = static_cast<std::int32_t>(state >> 17U);
    }
    return values;
}

long sum_of(Pool &pool, std::vector<std::int32_t> &values) {
    std::atomic<long> sum{0};
    Group group(pool);
    group.run([&] {
        for (std::size_t begin = 0; begin < values.size(); begin += 50) {
            const std::size_t end = std::min(begin + 50, values.size());
            group.run([&sum, &values, begin, end] {
                sum.fetch_add(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                              values.begin() + static_cast<std::ptrdiff_t>(end), 0L),
                              std::memory_order_relaxed);
            });
        }
    });
    group.wait();
    return sum.load();
}

int main() {
    std::vector<std::int32_t> values = numbers(300);
    Pool pool(3);
    const long before = sum_of(pool, values);
    {
        Group group(pool);
        group.run([&] { sort_part(group, nullptr, values.begin(), values.end()); });
        group.wait();
    }
    const long after = sum_of(pool, values);
    pool.stop();
    std::printf("%s, %s, %d tasks\n",
                std::is_sorted(values.begin(), values.end()) ? "sorted" : "unsorted",
                before == after ? "nothing lost" : "lost", totals.executed);
    return 0;
}
