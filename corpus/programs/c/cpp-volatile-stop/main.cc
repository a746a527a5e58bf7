// A sampler thread is stopped by a volatile flag. Volatile keeps the compiler from dropping
// the reads; it orders nothing between threads.
#include <cstdio>
#include <functional>
#include <thread>

volatile bool stop_requested = false;

__attribute__((noinline)) bool keep_going() { return !stop_requested; }

__attribute__((noinline)) void request_stop() { stop_requested = true; }  // the mistake: no atomic

class Sampler {
  public:
    void operator()() {
        while (samples_ < 2000 && keep_going()) {
            ++samples_;
            std::this_thread::yield();
        }
    }

    int samples() const { return samples_; }

  private:
    int samples_ = 0;
};

int main() {
    Sampler sampler;
    std::thread thread(std::ref(sampler));
    request_stop();
    thread.join();
    std::printf("%s\n", sampler.samples() <= 2000 ? "stopped" : "overrun");
    return 0;
}
