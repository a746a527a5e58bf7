// A logger with a thread of its own, stopped by a stop token: it waits on a condition variable
// that the token interrupts, writes what is left, and a footer. The number of lines is the
// thread's alone until it was joined.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

std::size_t lines_written = 0;

__attribute__((noinline)) void write_line(const std::string &line) {
    lines_written += line.empty() ? 0 : 1;
}

__attribute__((noinline)) std::size_t written() { return lines_written; }

class Logger {
  public:
    Logger() : thread_([this](std::stop_token stop) { run(stop); }) {}

    void log(std::string line) {
        std::lock_guard hold(lock_);
        lines_.push_back(std::move(line));
        changed_.notify_one();
    }

    void close() {
        thread_.request_stop();
        thread_.join();
    }

  private:
    void run(const std::stop_token &stop) {
        drain(stop);
        write_line(asked_.load(std::memory_order_relaxed) ? "closed when asked" : "closed");
    }

    void drain(const std::stop_token &stop) {
        // Called by who asks for the stop; its end waits for that call.
        std::stop_callback note(stop, [this] { asked_.store(true, std::memory_order_relaxed); });
        bool stopping = false;
        while (!stopping) {
            std::deque<std::string> batch;
            {
                std::unique_lock hold(lock_);
                stopping = !changed_.wait(hold, stop, [this] { return !lines_.empty(); });
                batch.swap(lines_);
            }
            for (const std::string &line : batch) {
                write_line(line);
            }
        }
    }

    std::mutex lock_;
    std::condition_variable_any changed_;
    std::deque<std::string> lines_;
    std::atomic<bool> asked_{false};
    std::jthread thread_;  // last, so that it is joined before the rest goes
};

int main() {
    std::size_t count = 0;
    {
        Logger logger;
        auto talk = [&logger](const char *name) {
            for (int i = 0; i < 10; ++i) {
                logger.log(std::string(name) + " says " + std::to_string(i));
            }
        };
        {
            std::jthread first(talk, "first");
            std::jthread second(talk, "second");
        }
        logger.close();
        count = written();
    }
    std::printf("%zu lines\n", count);
    return 0;
}
