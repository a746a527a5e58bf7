// A producer publishes a number through a flag that is stored and loaded `relaxed`:
// nothing orders the write of the number before its read.
#include <atomic>
#include <cstdio>
#include <thread>

int payload = 0;
std::atomic<bool> ready{false};

__attribute__((noinline)) void publish(int value) {
    payload = value;
    ready.store(true, std::memory_order_relaxed);  // the mistake: should be release
}

__attribute__((noinline)) int receive() {
    while (!ready.load(std::memory_order_relaxed)) {  // and acquire here
        std::this_thread::yield();
    }
    return payload;
}

int main() {
    int received = 0;
    std::thread consumer([&received] { received = receive(); });
    std::thread producer([] { publish(42); });
    producer.join();
    consumer.join();
    std::printf("received %d\n", received);
    return 0;
}
