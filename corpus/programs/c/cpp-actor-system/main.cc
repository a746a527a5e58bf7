// A small actor system: actors with mailboxes, run by a few dispatcher threads; three kinds of
// actors count the words of a text together. A monitor thread peeks at the tally of the
// collector to show progress, without going through its mailbox: that is the bug.
#include <array>
#include <cctype>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// ---------------------------------------------------------------------------------------------
// Messages

class Actor;

struct Message {
    virtual ~Message() = default;
};

struct Line : Message {
    Line(int line_number, std::string line_text)
        : number(line_number), text(std::move(line_text)) {}

    int number;
    std::string text;
};

struct Words : Message {
    explicit Words(std::vector<std::string> line_words) : words(std::move(line_words)) {}

    std::vector<std::string> words;
};

struct Counted : Message {
    Counted(int line_words, std::size_t longest_word) : words(line_words), longest(longest_word) {}

    int words;
    std::size_t longest;
};

using MessagePtr = std::unique_ptr<Message>;

// ---------------------------------------------------------------------------------------------
// Actors

class System;

class Actor {
  public:
    Actor(System &system, std::string name) : system_(system), name_(std::move(name)) {}
    virtual ~Actor() = default;

    Actor(const Actor &) = delete;
    Actor &operator=(const Actor &) = delete;

    const std::string &name() const { return name_; }

    // Puts a message into the mailbox; true if the actor was not scheduled yet and now must be.
    bool enqueue(MessagePtr message) {
        std::lock_guard<std::mutex> hold(mailbox_lock_);
        mailbox_.push_back(std::move(message));
        if (scheduled_) {
            return false;
        }
        scheduled_ = true;
        return true;
    }

    // Handles up to `limit` messages; true if some are left, so that it must be scheduled again.
    // Never run by two dispatchers at a time, because `scheduled_` stays set meanwhile.
    bool run_some(int limit, int &handled) {
        for (int i = 0; i < limit; ++i) {
            MessagePtr message;
            {
                std::lock_guard<std::mutex> hold(mailbox_lock_);
                if (mailbox_.empty()) {
                    scheduled_ = false;
                    return false;
                }
                message = std::move(mailbox_.front());
                mailbox_.pop_front();
            }
            receive(*message);
            ++handled;
        }
        std::lock_guard<std::mutex> hold(mailbox_lock_);
        scheduled_ = !mailbox_.empty();
        return scheduled_;
    }

  protected:
    virtual void receive(Message &message) = 0;

    void send(Actor &to, MessagePtr message);

    [[noreturn]] void reject() const {
        throw std::logic_error("unexpected message for " + name_);
    }

  private:
    System &system_;
    std::string name_;
    std::mutex mailbox_lock_;
    std::deque<MessagePtr> mailbox_;
    bool scheduled_ = false;
};

// ---------------------------------------------------------------------------------------------
// The system: a queue of actors that have mail, dispatchers that run them

class System {
  public:
    explicit System(int dispatchers) {
        for (int i = 0; i < dispatchers; ++i) {
            threads_.emplace_back(&System::dispatch, this);
        }
    }

    ~System() { stop(); }

    System(const System &) = delete;
    System &operator=(const System &) = delete;

    template <class Kind, class... Arguments> Kind &spawn(Arguments &&...arguments) {
        auto actor = std::make_unique<Kind>(*this, std::forward<Arguments>(arguments)...);
        Kind &reference = *actor;
        std::lock_guard<std::mutex> hold(lock_);
        actors_.push_back(std::move(actor));
        return reference;
    }

    void send(Actor &to, MessagePtr message) {
        {
            std::lock_guard<std::mutex> hold(lock_);
            ++undelivered_;
        }
        if (to.enqueue(std::move(message))) {
            schedule(to);
        }
    }

    // Waits until every message, and what was sent because of it, was handled.
    void await_idle() {
        std::unique_lock<std::mutex> hold(lock_);
        idle_.wait(hold, [this] { return undelivered_ == 0; });
    }

    void stop() {
        {
            std::lock_guard<std::mutex> hold(lock_);
            if (stopping_) {
                return;
            }
            stopping_ = true;
            runnable_.notify_all();
        }
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }

    int failures() const { return failures_; }

  private:
    void schedule(Actor &actor) {
        std::lock_guard<std::mutex> hold(lock_);
        run_queue_.push_back(&actor);
        runnable_.notify_one();
    }

    void dispatch() {
        for (;;) {
            Actor *actor = nullptr;
            {
                std::unique_lock<std::mutex> hold(lock_);
                runnable_.wait(hold, [this] { return stopping_ || !run_queue_.empty(); });
                if (run_queue_.empty()) {
                    return;
                }
                actor = run_queue_.front();
                run_queue_.pop_front();
            }
            run(*actor);
        }
    }

    void run(Actor &actor) {
        int handled = 0;
        bool again = false;
        try {
            again = actor.run_some(4, handled);
        } catch (const std::logic_error &) {
            // A message that an actor does not understand is handled by being counted.
            ++handled;
            again = true;
            std::lock_guard<std::mutex> count(lock_);
            ++failures_;
        }
        if (again) {
            schedule(actor);
        }
        std::lock_guard<std::mutex> hold(lock_);
        undelivered_ -= handled;
        if (undelivered_ == 0) {
            idle_.notify_all();
        }
    }

    std::mutex lock_;
    std::condition_variable runnable_;
    std::condition_variable idle_;
    std::deque<Actor *> run_queue_;
    std::vector<std::unique_ptr<Actor>> actors_;
    int undelivered_ = 0;
    int failures_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

void Actor::send(Actor &to, MessagePtr message) { system_.send(to, std::move(message)); }

// ---------------------------------------------------------------------------------------------
// Word counting

struct Tally {
    int lines = 0;
    int words = 0;
    std::size_t longest = 0;
};

Tally tally;  // belongs to the collector, and to main() when the system is idle

__attribute__((noinline)) void add_words(int count) { tally.words += count; }

// The mistake: the collector's state is read from outside, not asked for by a message.
__attribute__((noinline)) int peek_words() { return tally.words; }

class Collector : public Actor {
  public:
    explicit Collector(System &system) : Actor(system, "collector") {}

  protected:
    void receive(Message &message) override {
        auto *counted = dynamic_cast<Counted *>(&message);
        if (counted == nullptr) {
            reject();
        }
        ++tally.lines;
        if (counted->longest > tally.longest) {
            tally.longest = counted->longest;
        }
        add_words(counted->words);
    }
};

class Counter : public Actor {
  public:
    Counter(System &system, Collector &collector)
        : Actor(system, "counter"), collector_(collector) {}

    const std::map<std::string, int> &frequencies() const { return frequencies_; }

  protected:
    void receive(Message &message) override {
        auto *line = dynamic_cast<Words *>(&message);
        if (line == nullptr) {
            reject();
        }
        std::size_t longest = 0;
        for (const std::string &word : line->words) {
            ++frequencies_[word];
            longest = word.size() > longest ? word.size() : longest;
        }
        send(collector_, std::make_unique<Counted>(static_cast<int>(line->words.size()), longest));
    }

  private:
    Collector &collector_;
    std::map<std::string, int> frequencies_;
};

class Splitter : public Actor {
  public:
    Splitter(System &system, std::array<Counter *, 2> counters)
        : Actor(system, "splitter"), counters_(counters) {}

  protected:
    void receive(Message &message) override {
        auto *line = dynamic_cast<Line *>(&message);
        if (line == nullptr) {
            reject();
        }
        std::vector<std::string> words;
        std::string word;
        for (char letter : line->text) {
            if (std::isalpha(static_cast<unsigned char>(letter)) != 0) {
                word.push_back(letter);
            } else if (!word.empty()) {
                words.push_back(std::move(word));
                word.clear();
            }
        }
        if (!word.empty()) {
            words.push_back(word);
        }
        Counter &next = *counters_[static_cast<std::size_t>(line->number) % counters_.size()];
        send(next, std::make_unique<Words>(std::move(words)));
    }

  private:
    std::array<Counter *, 2> counters_;
};

// Shows that something moves. It takes no lock at all.
class Monitor {
  public:
    void watch() {
        int last = 0;
        for (int i = 0; i < 20; ++i) {
            const int now = peek_words();
            changes_ += now != last ? 1 : 0;
            last = now;
            std::this_thread::yield();
        }
    }

    int changes() const { return changes_; }

  private:
    int changes_ = 0;
};

int main() {
    static const char *const text[] = {
        "the quick brown fox", "jumps over the lazy dog", "", "actors keep their state",
        "to themselves", "and answer by messages", "the end",
    };
    System system(3);
    Collector &collector = system.spawn<Collector>();
    std::array<Counter *, 2> counters{&system.spawn<Counter>(collector),
                                      &system.spawn<Counter>(collector)};
    Splitter &splitter = system.spawn<Splitter>(counters);

    Monitor monitor;
    std::thread monitor_thread(&Monitor::watch, &monitor);
    int number = 0;
    for (const char *line : text) {
        system.send(splitter, std::make_unique<Line>(number++, line));
    }
    system.send(collector, std::make_unique<Line>(0, "not for you"));
    system.await_idle();
    monitor_thread.join();
    system.stop();

    std::size_t distinct = 0;
    for (const Counter *counter : counters) {
        distinct += counter->frequencies().size();
    }
    std::printf("%d lines, %d words, longest %zu, %zu entries, %d failure\n", tally.lines,
                tally.words, tally.longest, distinct, system.failures());
    return 0;
}
