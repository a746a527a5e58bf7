// An import unlocks before it throws, and its caller unlocks again when it catches.
// The workers, which use scoped locks, let an exception through a locked scope correctly.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

std::mutex journal_lock;
std::vector<std::string> journal;
int rejected = 0;

void check(const std::string &entry) {
    if (entry.empty()) {
        throw std::invalid_argument("empty entry");
    }
}

void append(const std::string &entry) {
    std::lock_guard<std::mutex> hold(journal_lock);
    check(entry);  // the lock is given back on the way out
    journal.push_back(entry);
}

void work(const std::vector<std::string> &entries) {
    for (const std::string &entry : entries) {
        try {
            append(entry);
        } catch (const std::invalid_argument &) {
            std::lock_guard<std::mutex> hold(journal_lock);
            ++rejected;
        }
    }
}

__attribute__((noinline)) void import_one(const std::string &entry) {
    journal_lock.lock();
    if (entry.size() > 8) {
        journal_lock.unlock();
        throw std::length_error("entry too long");
    }
    journal.push_back(entry);
    journal_lock.unlock();
}

__attribute__((noinline)) bool import_or_reject(const std::string &entry) {
    try {
        import_one(entry);
        return true;
    } catch (const std::length_error &) {
        journal_lock.unlock();  // the mistake: import_one() unlocked it already
        return false;
    }
}

int main() {
    std::thread first(work, std::vector<std::string>{"a1", "", "a2", "a3"});
    std::thread second(work, std::vector<std::string>{"b1", "b2", ""});
    first.join();
    second.join();
    // Nobody else uses the lock any more, so that the second unlock harms nobody.
    const bool kept = import_or_reject("c1");
    const bool long_kept = import_or_reject("a very long entry");
    std::printf("%zu entries, %d rejected, %d %d\n", journal.size(), rejected, kept, long_kept);
    return 0;
}
