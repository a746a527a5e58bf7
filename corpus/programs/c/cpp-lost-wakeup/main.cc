// A courier rings the bell without taking the lock under which the receiver looks at the door:
// the bell can ring after the look and before the wait, and then the receiver waits for ever.
// The run itself never hangs: the courier rings when the kernel says that the receiver sleeps,
// which orders none of the program's own events.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

std::mutex door;
std::condition_variable bell;
std::atomic<bool> parcel_there{false};
std::atomic<int> receiver_id{0};

__attribute__((noinline)) void await_parcel() {
    std::unique_lock<std::mutex> look(door);
    while (!parcel_there.load()) {
        bell.wait(look);
    }
}

__attribute__((noinline)) void deliver() {
    parcel_there.store(true);  // the mistake: without holding `door`
    bell.notify_one();
}

bool asleep(int thread_id) {
    std::string path = "/proc/self/task/" + std::to_string(thread_id) + "/stat";
    std::FILE *file = std::fopen(path.c_str(), "r");
    if (file == nullptr) {
        return false;
    }
    char line[512];
    const bool got = std::fgets(line, sizeof line, file) != nullptr;
    std::fclose(file);
    // The state follows the name, which is in parentheses.
    const char *end = got ? std::strrchr(line, ')') : nullptr;
    return end != nullptr && std::strncmp(end, ") S", 3) == 0;
}

// Many times in a row, so that a short sleep on the way to the wait is not taken for it.
void until_asleep(int thread_id) {
    for (int seen = 0; seen < 40;) {
        seen = asleep(thread_id) ? seen + 1 : 0;
        usleep(200);
    }
}

int main() {
    std::thread receiver([] {
        receiver_id = gettid();
        await_parcel();
    });
    std::thread courier([] {
        while (receiver_id == 0) {
            std::this_thread::yield();
        }
        until_asleep(receiver_id);
        deliver();
    });
    receiver.join();
    courier.join();
    std::puts("delivered");
    return 0;
}
