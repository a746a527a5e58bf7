// Transfers between accounts, each with a lock of its own, in both directions: both locks are
// taken at once by a scoped lock, which backs off instead of waiting with one in its hand. An
// auditor locks both deferred, a cashier gives up when a till stays busy.
// The threads that transfer run one after the other (the kernel is asked when the first is gone,
// which orders none of the program's events): broken by the mutation, the program still ends.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

struct Account {
    std::mutex guard;
    int balance = 100;
};

Account checking;
Account savings;

std::timed_mutex till;
int till_uses = 0;

std::atomic<int> first_id{0};

__attribute__((noinline)) bool transfer(Account &from, Account &to, int amount) {
    std::scoped_lock both(from.guard, to.guard);
    if (from.balance < amount) {
        return false;
    }
    from.balance -= amount;
    to.balance += amount;
    return true;
}

int audit() {
    std::unique_lock<std::mutex> one(checking.guard, std::defer_lock);
    std::unique_lock<std::mutex> other(savings.guard, std::defer_lock);
    std::lock(one, other);
    return checking.balance + savings.balance;
}

bool use_till() {
    std::unique_lock<std::timed_mutex> hold(till, std::defer_lock);
    if (!hold.try_lock_for(std::chrono::seconds(5))) {
        return false;
    }
    ++till_uses;
    return true;
}

bool peek_savings(int &balance) {
    if (!savings.guard.try_lock()) {
        return false;
    }
    std::lock_guard<std::mutex> hold(savings.guard, std::adopt_lock);
    balance = savings.balance;
    return true;
}

void until_gone(int thread_id) {
    while (tgkill(getpid(), thread_id, 0) == 0 || errno != ESRCH) {
        std::this_thread::yield();
    }
}

int main() {
    std::thread saver([] {
        first_id = gettid();
        for (int amount : {30, 50, 90}) {
            transfer(checking, savings, amount);
        }
        use_till();
    });
    while (first_id == 0) {
        std::this_thread::yield();
    }
    until_gone(first_id);
    std::thread spender([] {
        for (int amount : {20, 40}) {
            transfer(savings, checking, amount);
        }
        use_till();
    });
    int audited = audit();
    int peeked = 0;
    while (!peek_savings(peeked)) {
        std::this_thread::yield();
    }
    saver.join();
    spender.join();
    std::printf("audited %d, till %d\n", audited, till_uses);
    return 0;
}
