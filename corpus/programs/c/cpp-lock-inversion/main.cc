// Two locks taken in both orders: posting takes the ledger, then the journal; rotating takes
// the journal, then the ledger. The run itself never deadlocks: the second thread starts when
// the first is gone, but nothing in the program demands that.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

std::recursive_mutex ledger;
std::mutex journal;

int balance = 0;
std::vector<std::string> lines;

std::atomic<int> poster_id{0};

void add(int amount) {
    std::lock_guard<std::recursive_mutex> hold(ledger);  // taken again by post()
    balance += amount;
}

__attribute__((noinline)) void post(int amount) {
    std::lock_guard<std::recursive_mutex> hold(ledger);
    add(amount);
    std::lock_guard<std::mutex> write(journal);
    lines.push_back("posted " + std::to_string(amount));
}

__attribute__((noinline)) void rotate() {
    std::unique_lock<std::mutex> write(journal);
    std::lock_guard<std::recursive_mutex> hold(ledger);  // the mistake: the other order
    lines.clear();
    lines.push_back("carried over " + std::to_string(balance));
}

// Only the kernel is asked, so that no order of the program's own events comes of it.
void until_gone(int thread_id) {
    while (tgkill(getpid(), thread_id, 0) == 0 || errno != ESRCH) {
        std::this_thread::yield();
    }
}

int main() {
    std::thread poster([] {
        poster_id = gettid();
        for (int amount : {10, 20, 30}) {
            post(amount);
        }
    });
    while (poster_id == 0) {
        std::this_thread::yield();
    }
    until_gone(poster_id);
    std::thread rotator(rotate);
    poster.join();
    rotator.join();
    std::printf("%s\n", lines.back().c_str());
    return 0;
}
