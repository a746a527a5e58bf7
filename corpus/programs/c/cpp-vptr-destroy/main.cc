// A base class joins its thread in its destructor. By then the derived part is gone and the
// pointer to the virtual functions was changed, while the thread still calls through it.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

std::atomic<int> plain_steps{0};
std::atomic<int> fancy_steps{0};

class Engine {
  public:
    virtual ~Engine();
    void start() { thread_ = std::thread(&Engine::run, this); }

  protected:
    virtual void step() { plain_steps.fetch_add(1, std::memory_order_relaxed); }

  private:
    void run();

    std::thread thread_;
};

__attribute__((noinline)) void Engine::run() {
    for (int i = 0; i < 20; ++i) {
        step();
        std::this_thread::yield();
    }
}

// The mistake: the thread must be joined before the derived destructor ends, not here.
__attribute__((noinline)) Engine::~Engine() { thread_.join(); }

class FancyEngine : public Engine {
  protected:
    void step() override { fancy_steps.fetch_add(1, std::memory_order_relaxed); }
};

int main() {
    std::unique_ptr<Engine> engine = std::make_unique<FancyEngine>();
    engine->start();
    engine.reset();
    std::printf("%d steps\n", plain_steps.load() + fancy_steps.load());
    return 0;
}
