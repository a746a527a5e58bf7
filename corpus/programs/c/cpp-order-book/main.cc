// A limit order book: traders send orders, the book matches them by price and time, trades go
// onto a tape. A ticker thread looks where the tape's memory is, to notice that it grew; it does
// so without the book's lock, while the vector grows: that is the bug.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

enum class Side { buy, sell };

struct Order {
    int id = 0;
    Side side = Side::buy;
    int price = 0;
    int quantity = 0;
    int trader = 0;
};

struct Trade {
    int buy_id = 0;
    int sell_id = 0;
    int price = 0;
    int quantity = 0;
};

// ---------------------------------------------------------------------------------------------
// The tape of all trades; it belongs to the book's lock

std::vector<Trade> tape;

__attribute__((noinline)) void append_trade(const Trade &trade) { tape.push_back(trade); }

// The mistake: the vector's memory moves when it grows, under a lock that is not taken here.
__attribute__((noinline)) const Trade *tape_start() { return tape.data(); }

// ---------------------------------------------------------------------------------------------
// One side of the book: price levels, each a queue in order of time

template <class Better> class Ladder {
  public:
    bool empty() const { return levels_.empty(); }

    int best_price() const { return levels_.begin()->first; }

    Order &best() { return levels_.begin()->second.front(); }

    void add(const Order &order) { levels_[order.price].push_back(order); }

    void drop_best() {
        auto level = levels_.begin();
        level->second.pop_front();
        if (level->second.empty()) {
            levels_.erase(level);
        }
    }

    std::optional<Order> cancel(int price, int id) {
        auto level = levels_.find(price);
        if (level == levels_.end()) {
            return std::nullopt;
        }
        auto &queue = level->second;
        auto found = std::find_if(queue.begin(), queue.end(),
                                  [id](const Order &order) { return order.id == id; });
        if (found == queue.end()) {
            return std::nullopt;
        }
        Order order = *found;
        queue.erase(found);
        if (queue.empty()) {
            levels_.erase(level);
        }
        return order;
    }

    int depth() const {
        int quantity = 0;
        for (const auto &[price, queue] : levels_) {
            for (const Order &order : queue) {
                quantity += order.quantity;
            }
        }
        return quantity;
    }

  private:
    std::map<int, std::deque<Order>, Better> levels_;
};

// ---------------------------------------------------------------------------------------------
// The book

struct Quote {
    int bid = 0;
    int ask = 0;
};

struct Rejected : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Book {
  public:
    // Matches what can be matched, and keeps the rest in the book; gives the order's number.
    int submit(Side side, int price, int quantity, int trader) {
        std::unique_lock<std::shared_mutex> hold(lock_);
        if (price <= 0 || quantity <= 0) {
            throw Rejected("price and quantity must be positive");  // gives the lock back
        }
        Order order{++last_id_, side, price, quantity, trader};
        if (side == Side::buy) {
            match(order, asks_, [price](int ask) { return ask <= price; });
            keep(order, bids_);
        } else {
            match(order, bids_, [price](int bid) { return bid >= price; });
            keep(order, asks_);
        }
        return order.id;
    }

    bool cancel(int id) {
        std::unique_lock<std::shared_mutex> hold(lock_);
        auto known = open_.find(id);
        if (known == open_.end()) {
            return false;
        }
        const auto [side, price] = known->second;
        open_.erase(known);
        return side == Side::buy ? bids_.cancel(price, id).has_value()
                                 : asks_.cancel(price, id).has_value();
    }

    Quote quote() const {
        std::shared_lock<std::shared_mutex> hold(lock_);
        return {bids_.empty() ? 0 : bids_.best_price(), asks_.empty() ? 0 : asks_.best_price()};
    }

    int position(int trader) const {
        std::shared_lock<std::shared_mutex> hold(lock_);
        auto found = positions_.find(trader);
        return found == positions_.end() ? 0 : found->second;
    }

    int depth(Side side) const {
        std::shared_lock<std::shared_mutex> hold(lock_);
        return side == Side::buy ? bids_.depth() : asks_.depth();
    }

  private:
    template <class Opposite, class Crosses>
    void match(Order &order, Opposite &opposite, Crosses crosses) {
        while (order.quantity > 0 && !opposite.empty() && crosses(opposite.best_price())) {
            Order &resting = opposite.best();
            const int quantity = std::min(order.quantity, resting.quantity);
            settle(order, resting, quantity);
            if (resting.quantity == 0) {
                open_.erase(resting.id);
                opposite.drop_best();
            }
        }
    }

    void settle(Order &order, Order &resting, int quantity) {
        order.quantity -= quantity;
        resting.quantity -= quantity;
        const Order &buyer = order.side == Side::buy ? order : resting;
        const Order &seller = order.side == Side::buy ? resting : order;
        positions_[buyer.trader] += quantity;
        positions_[seller.trader] -= quantity;
        append_trade(Trade{buyer.id, seller.id, resting.price, quantity});
    }

    template <class Own> void keep(const Order &order, Own &own) {
        if (order.quantity > 0) {
            own.add(order);
            open_.emplace(order.id, std::make_pair(order.side, order.price));
        }
    }

    mutable std::shared_mutex lock_;
    Ladder<std::greater<>> bids_;
    Ladder<std::less<>> asks_;
    std::unordered_map<int, std::pair<Side, int>> open_;
    std::unordered_map<int, int> positions_;
    int last_id_ = 0;
};

// ---------------------------------------------------------------------------------------------
// Those who use the book

// Numbers do not depend on the run, so that every run has trades.
class Dice {
  public:
    explicit Dice(std::uint32_t seed) : state_(seed) {}

    int below(int bound) {
        state_ = state_ * 1664525U + 1013904223U;
        return static_cast<int>((state_ >> 16U) % static_cast<std::uint32_t>(bound));
    }

  private:
    std::uint32_t state_;
};

class Trader {
  public:
    Trader(Book &book, int number) : book_(book), number_(number), dice_(77U + number) {}

    void operator()() {
        for (int i = 0; i < 12; ++i) {
            const Side side = i % 2 == 0 ? Side::buy : Side::sell;
            // A trader buys high and sells low, so that even one alone makes trades.
            const int price = side == Side::buy ? 101 + dice_.below(4) : 100 - dice_.below(4);
            try {
                const int id = book_.submit(side, price, dice_.below(6), number_);
                if (i % 5 == 4) {
                    cancelled_ += book_.cancel(id) ? 1 : 0;
                }
            } catch (const Rejected &) {
                ++rejected_;
            }
        }
    }

    int rejected() const { return rejected_; }
    int cancelled() const { return cancelled_; }

  private:
    Book &book_;
    int number_;
    Dice dice_;
    int rejected_ = 0;
    int cancelled_ = 0;
};

// A reader that takes the lock: it asks for quotes only.
class Watcher {
  public:
    explicit Watcher(const Book &book) : book_(book) {}

    void operator()() {
        for (int i = 0; i < 6; ++i) {
            const Quote now = book_.quote();
            if (now.bid != 0 && now.ask != 0) {
                widest_ = std::max(widest_, now.ask - now.bid);
            }
        }
    }

    int widest() const { return widest_; }

  private:
    const Book &book_;
    int widest_ = 0;
};

// A reader that takes no lock at all.
class Ticker {
  public:
    void operator()() {
        const Trade *last = nullptr;
        for (int i = 0; i < 20; ++i) {
            const Trade *now = tape_start();
            moves_ += now != last ? 1 : 0;
            last = now;
            std::this_thread::yield();
        }
    }

    int moves() const { return moves_; }

  private:
    int moves_ = 0;
};

std::string summary(const Book &book, const std::vector<Trader> &traders) {
    int positions = 0;
    int rejected = 0;
    for (std::size_t i = 0; i < traders.size(); ++i) {
        positions += book.position(static_cast<int>(i));
        rejected += traders[i].rejected();
    }
    int volume = 0;
    for (const Trade &trade : tape) {
        volume += trade.quantity;
    }
    return "positions sum to " + std::to_string(positions) + ", " + std::to_string(rejected) +
           " rejected, " + (volume > 0 ? "traded" : "no trade");
}

int main() {
    Book book;
    std::vector<Trader> traders;
    for (int i = 0; i < 2; ++i) {
        traders.emplace_back(book, i);
    }
    Watcher watcher(book);
    Ticker ticker;

    std::vector<std::thread> threads;
    threads.emplace_back(std::ref(ticker));
    threads.emplace_back(std::ref(watcher));
    for (Trader &trader : traders) {
        threads.emplace_back(std::ref(trader));
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::puts(summary(book, traders).c_str());
    return 0;
}
