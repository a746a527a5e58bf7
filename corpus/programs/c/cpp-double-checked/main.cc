// Double-checked locking gone wrong: the first check reads a plain pointer without the lock
// that the write holds.
#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Registry {
    std::string name = "registry";
    int capacity = 64;
};

Registry *registry = nullptr;
std::mutex registry_guard;

__attribute__((noinline)) Registry *get_registry() {
    if (registry == nullptr) {  // the mistake: registry should be an atomic, loaded with acquire
        std::lock_guard<std::mutex> hold(registry_guard);
        if (registry == nullptr) {
            registry = new Registry;
        }
    }
    return registry;
}

int main() {
    // The threads only fetch the pointer; what it points to is used after they were joined.
    std::array<Registry *, 3> fetched{};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < fetched.size(); ++i) {
        threads.emplace_back([&fetched, i] { fetched[i] = get_registry(); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::unique_ptr<Registry> owner(fetched[0]);
    std::printf("%s of %d, %s\n", owner->name.c_str(), owner->capacity,
                fetched[1] == owner.get() && fetched[2] == owner.get() ? "one" : "several");
    return 0;
}
