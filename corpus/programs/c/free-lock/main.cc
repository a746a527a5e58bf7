// A ticket with a std::mutex is deleted by the one who takes it, while the one who made it may still unlock it.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

struct ticket {
    std::mutex lock;
    int number = 0;
};

static std::atomic<ticket *> counter{nullptr};

// The ticket is out before its lock is given back.
__attribute__((noinline)) static void ticket_print(ticket *printed) {
    printed->lock.lock();
    printed->number = 7;
    counter.store(printed);
    printed->lock.unlock();
}

// Waits a little, so that the fault does not strike.
__attribute__((noinline)) static int ticket_take() {
    ticket *got;
    while ((got = counter.load()) == nullptr)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    int number = got->number;
    delete got;
    return number;
}

int main() {
    int number = 0;
    std::thread customer([&] { number = ticket_take(); });
    std::thread printer([] { ticket_print(new ticket); });
    customer.join();
    printer.join();
    std::printf("ticket %d\n", number);
}
