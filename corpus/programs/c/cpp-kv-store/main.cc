// A key-value store in memory: keys are spread over stripes, each under its own shared mutex;
// values are immutable and shared, so that a snapshot copies pointers only. A snapshot takes all
// stripes in the order of their numbers; the last one is remembered by a weak pointer and
// shared as long as somebody uses it and nothing was written since.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Text = std::shared_ptr<const std::string>;

// ---------------------------------------------------------------------------------------------
// Statistics, under a lock of their own

struct Statistics {
    int puts = 0;
    int erasures = 0;
    int hits = 0;
    int misses = 0;
};

std::mutex statistics_lock;
Statistics statistics;

__attribute__((noinline)) void count_put() {
    std::lock_guard<std::mutex> hold(statistics_lock);
    ++statistics.puts;
}

void count_erasure() {
    std::scoped_lock<std::mutex> locked(statistics_lock);
    ++statistics.erasures;
}

void count_lookup(bool hit) {
    std::scoped_lock<std::mutex> locked(statistics_lock);
    ++(hit ? statistics.hits : statistics.misses);
}

// ---------------------------------------------------------------------------------------------
// Snapshots: what all stripes held at one moment

class Snapshot {
  public:
    Snapshot(std::uint64_t version, std::map<std::string, Text> entries)
        : version_(version), entries_(std::move(entries)) {}

    std::uint64_t version() const { return version_; }
    std::size_t size() const { return entries_.size(); }

    Text find(const std::string &key) const {
        auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : found->second;
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const auto &[key, value] : entries_) {
            sum += key.size() + value->size();
        }
        return sum;
    }

  private:
    std::uint64_t version_;
    std::map<std::string, Text> entries_;
};

// ---------------------------------------------------------------------------------------------
// The store

class Store {
  public:
    Text get(const std::string &key) const {
        const Stripe &stripe = stripe_of(key);
        Text value;
        {
            std::shared_lock<std::shared_mutex> hold(stripe.guard);
            auto found = stripe.entries.find(key);
            if (found != stripe.entries.end()) {
                value = found->second;
            }
        }
        count_lookup(value != nullptr);
        return value;
    }

    void put(const std::string &key, std::string value) {
        // Made before the lock is taken: allocating is slow.
        Text text = std::make_shared<const std::string>(std::move(value));
        Stripe &stripe = stripe_of(key);
        {
            std::unique_lock<std::shared_mutex> hold(stripe.guard);
            stripe.entries.insert_or_assign(key, std::move(text));
            version_.fetch_add(1, std::memory_order_relaxed);
        }
        count_put();
    }

    bool erase(const std::string &key) {
        Stripe &stripe = stripe_of(key);
        bool erased = false;
        {
            std::unique_lock<std::shared_mutex> hold(stripe.guard);
            erased = stripe.entries.erase(key) > 0;
            if (erased) {
                version_.fetch_add(1, std::memory_order_relaxed);
            }
        }
        if (erased) {
            count_erasure();
        }
        return erased;
    }

    // Replaces a value if it still is the one that the caller saw.
    bool replace(const std::string &key, const Text &seen, std::string value) {
        Text text = std::make_shared<const std::string>(std::move(value));
        Stripe &stripe = stripe_of(key);
        std::unique_lock<std::shared_mutex> hold(stripe.guard);
        auto found = stripe.entries.find(key);
        if (found == stripe.entries.end() || found->second != seen) {
            return false;
        }
        found->second = std::move(text);
        version_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }

    std::shared_ptr<const Snapshot> snapshot() const {
        std::lock_guard<std::mutex> hold(last_lock_);
        // With all stripes locked, nobody writes: the version belongs to the entries.
        std::array<std::shared_lock<std::shared_mutex>, stripe_count> held;
        for (std::size_t i = 0; i < stripe_count; ++i) {
            held[i] = std::shared_lock<std::shared_mutex>(stripes_[i].guard);
        }
        const std::uint64_t now = version_.load(std::memory_order_relaxed);
        std::shared_ptr<const Snapshot> last = last_.lock();
        if (last != nullptr && last->version() == now) {
            return last;
        }
        std::map<std::string, Text> entries;
        for (const Stripe &stripe : stripes_) {
            entries.insert(stripe.entries.begin(), stripe.entries.end());
        }
        auto fresh = std::make_shared<const Snapshot>(now, std::move(entries));
        last_ = fresh;
        return fresh;
    }

  private:
    static constexpr std::size_t stripe_count = 4;

    struct Stripe {
        mutable std::shared_mutex guard;
        std::map<std::string, Text> entries;
    };

    static std::size_t index_of(const std::string &key) {
        return std::hash<std::string>{}(key) % stripe_count;
    }

    Stripe &stripe_of(const std::string &key) { return stripes_[index_of(key)]; }
    const Stripe &stripe_of(const std::string &key) const { return stripes_[index_of(key)]; }

    std::array<Stripe, stripe_count> stripes_;
    std::atomic<std::uint64_t> version_{0};
    mutable std::mutex last_lock_;
    mutable std::weak_ptr<const Snapshot> last_;
};

// ---------------------------------------------------------------------------------------------
// A command line for it: one command, one answer

struct Command {
    enum class Kind { get, put, erase, append } kind = Kind::get;
    std::string key;
    std::string value;
};

std::optional<Command> parse(const std::string &line) {
    std::vector<std::string> words;
    std::string word;
    for (char letter : line + " ") {
        if (letter != ' ') {
            word.push_back(letter);
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, std::string()));
        }
    }
    if (words.size() == 2 && words[0] == "get") {
        return Command{Command::Kind::get, words[1], ""};
    }
    if (words.size() == 2 && words[0] == "erase") {
        return Command{Command::Kind::erase, words[1], ""};
    }
    if (words.size() == 3 && (words[0] == "put" || words[0] == "append")) {
        const auto kind = words[0] == "put" ? Command::Kind::put : Command::Kind::append;
        return Command{kind, words[1], words[2]};
    }
    return std::nullopt;
}

std::string append(Store &store, const Command &command) {
    // Somebody else may have changed it: try again with what is there now.
    for (int attempt = 0; attempt < 100; ++attempt) {
        const Text seen = store.get(command.key);
        if (seen == nullptr) {
            store.put(command.key, command.value);
            return "new";
        }
        if (store.replace(command.key, seen, *seen + command.value)) {
            return "appended";
        }
    }
    return "busy";
}

std::string execute(Store &store, const std::string &line) {
    const std::optional<Command> command = parse(line);
    if (!command) {
        return "what?";
    }
    switch (command->kind) {
    case Command::Kind::get: {
        const Text value = store.get(command->key);
        return value == nullptr ? "none" : *value;
    }
    case Command::Kind::put:
        store.put(command->key, command->value);
        return "put";
    case Command::Kind::erase:
        return store.erase(command->key) ? "erased" : "none";
    case Command::Kind::append:
        return append(store, *command);
    }
    return "";
}

// ---------------------------------------------------------------------------------------------
// Clients

class Client {
  public:
    Client(Store &store, int number) : store_(store), own_("client" + std::to_string(number)) {}

    void run() {
        for (int round = 0; round < 4; ++round) {
            const std::string text = std::to_string(round);
            say("put " + own_ + text + " value-of-some-length-" + text);
            say("append shared x");
            say("get client0" + text);
            if (round % 2 == 1) {
                say("erase " + own_ + std::to_string(round - 1));
            }
            say("nonsense");
        }
        say("put " + own_ + " done");
    }

    int not_understood() const { return not_understood_; }

  private:
    void say(const std::string &line) {
        if (execute(store_, line) == "what?") {
            ++not_understood_;
        }
    }

    Store &store_;
    std::string own_;
    int not_understood_ = 0;
};

// Takes snapshots while the clients write; none may ever look different the second time.
class Archivist {
  public:
    explicit Archivist(const Store &store) : store_(store) {}

    void run() {
        std::shared_ptr<const Snapshot> previous;
        for (int i = 0; i < 5; ++i) {
            std::shared_ptr<const Snapshot> now = store_.snapshot();
            const std::size_t bytes = now->bytes();
            std::this_thread::yield();
            changed_ += now->bytes() != bytes ? 1 : 0;
            backwards_ += previous != nullptr && now->version() < previous->version() ? 1 : 0;
            previous = std::move(now);
        }
    }

    int faults() const { return changed_ + backwards_; }

  private:
    const Store &store_;
    int changed_ = 0;
    int backwards_ = 0;
};

int main() {
    Store store;
    store.put("shared", "");  // there from the beginning, so that no client puts it anew
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) {
        clients.emplace_back(store, i);
    }
    Archivist archivist(store);

    std::vector<std::thread> threads;
    for (Client &client : clients) {
        threads.emplace_back(&Client::run, &client);
    }
    threads.emplace_back(&Archivist::run, &archivist);
    for (std::thread &thread : threads) {
        thread.join();
    }

    const auto end = store.snapshot();
    std::printf("%zu entries, shared has %zu, %d puts, %d erasures, %d faults\n", end->size(),
                end->find("shared")->size(), statistics.puts, statistics.erasures,
                archivist.faults());
    return 0;
}
