// Orders made of strings, vectors and maps are handed to another thread by a queue, which books and destroys them.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kOrders = 600;

struct Order {
    std::string customer;
    std::vector<std::string> articles;
    std::map<std::string, int> prices;
};

std::mutex lock;
std::condition_variable more;
std::queue<std::unique_ptr<Order>> queue;
bool closed;

std::unique_ptr<Order> Take() {
    std::unique_lock<std::mutex> guard(lock);
    more.wait(guard, [] { return closed || !queue.empty(); });
    if (queue.empty()) return nullptr;
    auto order = std::move(queue.front());
    queue.pop();
    return order;
}

void Book(std::map<std::string, long> *turnover) {
    while (auto order = Take()) {
        long total = 0;
        for (const auto &article : order->articles) total += order->prices[article];
        (*turnover)[order->customer] += total;
    }
}

}  // namespace

int main(int argc, char **argv) {
    const int orders = kOrders * (argc > 1 ? std::atoi(argv[1]) : 1);
    std::map<std::string, long> turnover;
    std::thread bookkeeper(Book, &turnover);
    for (int i = 0; i < orders; i++) {
        auto order = std::make_unique<Order>();
        order->customer = "customer number " + std::to_string(i % 100);
        for (int a = 0; a < 8; a++) {
            order->articles.push_back("article number " + std::to_string((i + a * 7) % 50));
            order->prices[order->articles.back()] = i % 90 + a;
        }
        std::lock_guard<std::mutex> guard(lock);
        queue.push(std::move(order));
        more.notify_one();
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        closed = true;
        more.notify_one();
    }
    bookkeeper.join();
    long total = 0;
    for (const auto &[customer, sum] : turnover) total += sum;
    std::printf("%ld\n", total);
    return 0;
}
