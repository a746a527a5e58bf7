// A build tool in small: a graph of tasks, each run as soon as what it needs is done. Futures
// say when: a task waits for the shared futures of its needs. Results are plain fields of the
// tasks, published by the futures alone.
#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// ---------------------------------------------------------------------------------------------
// A task: what it needs, what it does, what came of it

class Task;
using TaskPtr = std::shared_ptr<Task>;
using Action = std::function<int(const std::vector<int> &inputs)>;

class Task {
  public:
    Task(std::string name, std::vector<TaskPtr> needs, Action action)
        : name_(std::move(name)), needs_(std::move(needs)), action_(std::move(action)) {}

    const std::string &name() const { return name_; }
    const std::vector<TaskPtr> &needs() const { return needs_; }

    void set_done(std::shared_future<void> done) { done_ = std::move(done); }

    const std::shared_future<void> &done() const { return done_; }

    // Runs in whatever thread was given to this task.
    void perform() {
        await_needs();
        publish(action_(collect()));
    }

    int result() const { return result_; }

  private:
    void await_needs() const {
        for (const TaskPtr &need : needs_) {
            need->done().get();  // a failure of a need is a failure of this task
        }
    }

    std::vector<int> collect() const;
    void publish(int result);

    std::string name_;
    std::vector<TaskPtr> needs_;
    Action action_;
    std::shared_future<void> done_;
    int result_ = 0;
};

__attribute__((noinline)) std::vector<int> Task::collect() const {
    std::vector<int> inputs;
    inputs.reserve(needs_.size());
    for (const TaskPtr &need : needs_) {
        inputs.push_back(need->result_);
    }
    return inputs;
}

__attribute__((noinline)) void Task::publish(int result) { result_ = result; }

// ---------------------------------------------------------------------------------------------
// Three ways to run a task, all of which give a future. The graph owns the tasks: were they owned
// by what is run, each task would own itself through its future.

class Runner {
  public:
    virtual ~Runner() = default;
    virtual std::shared_future<void> run(Task &task) = 0;
    virtual void finish() {}
};

// The library's own threads; exceptions come back through the future.
class AsyncRunner : public Runner {
  public:
    std::shared_future<void> run(Task &task) override {
        return std::async(std::launch::async, [&task] { task.perform(); }).share();
    }
};

// A thread for each task, with a packaged task that is moved into it.
class ThreadRunner : public Runner {
  public:
    std::shared_future<void> run(Task &task) override {
        std::packaged_task<void()> job([&task] { task.perform(); });
        std::shared_future<void> done = job.get_future().share();
        threads_.emplace_back(std::move(job));
        return done;
    }

    void finish() override {
        for (std::thread &thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }

  private:
    std::vector<std::thread> threads_;
};

// Runs in the thread of the first who asks for the result.
class LazyRunner : public Runner {
  public:
    std::shared_future<void> run(Task &task) override {
        return std::async(std::launch::deferred, [&task] { task.perform(); }).share();
    }
};

// ---------------------------------------------------------------------------------------------
// The graph

struct CycleError : std::logic_error {
    using std::logic_error::logic_error;
};

class Graph {
  public:
    // Needs are named, and must have been added before: so there is no cycle.
    TaskPtr add(const std::string &name, const std::vector<std::string> &needs, Action action) {
        std::vector<TaskPtr> tasks;
        for (const std::string &need : needs) {
            auto found = tasks_.find(need);
            if (found == tasks_.end()) {
                throw CycleError(name + " needs " + need + ", which is not there yet");
            }
            tasks.push_back(found->second);
        }
        auto task = std::make_shared<Task>(name, std::move(tasks), std::move(action));
        tasks_.emplace(name, task);
        order_.push_back(task);
        return task;
    }

    // Starts all tasks in the order in which they were added; does not wait for any.
    void start(const std::function<Runner &(const Task &)> &runner_of) {
        for (const TaskPtr &task : order_) {
            task->set_done(runner_of(*task).run(*task));
        }
    }

    const TaskPtr &task(const std::string &name) const { return tasks_.at(name); }

    std::size_t size() const { return order_.size(); }

    // The names on the longest chain of needs, from its beginning: it bounds what threads can gain.
    std::vector<std::string> longest_chain() const {
        std::map<const Task *, std::vector<std::string>> chains;
        std::vector<std::string> longest;
        for (const TaskPtr &task : order_) {
            std::vector<std::string> chain;
            for (const TaskPtr &need : task->needs()) {
                const std::vector<std::string> &before = chains.at(need.get());
                chain = before.size() > chain.size() ? before : chain;
            }
            chain.push_back(task->name());
            longest = chain.size() > longest.size() ? chain : longest;
            chains.emplace(task.get(), std::move(chain));
        }
        return longest;
    }

  private:
    std::map<std::string, TaskPtr> tasks_;
    std::vector<TaskPtr> order_;
};

// ---------------------------------------------------------------------------------------------
// What the tasks of the example do

int scan(const std::string &source) {
    int tokens = 0;
    bool inside = false;
    for (char letter : source) {
        const bool blank = letter == ' ' || letter == '\n';
        tokens += !blank && !inside ? 1 : 0;
        inside = !blank;
    }
    return tokens;
}

Action scanning(std::string source) {
    return [source = std::move(source)](const std::vector<int> &) { return scan(source); };
}

int compile(const std::vector<int> &inputs) {
    int size = 16;
    for (int input : inputs) {
        size += 4 * input;
    }
    return size;
}

int link(const std::vector<int> &inputs) {
    int size = 64;
    for (int input : inputs) {
        size += input;
    }
    return size;
}

int check_size(const std::vector<int> &inputs) {
    if (inputs.at(0) > 100) {
        throw std::runtime_error("too large");
    }
    return 1;
}

int stamp(const std::vector<int> &inputs) { return inputs.at(0) * 10 + 1; }

// A value that comes from outside: main() keeps the promise when it knows it.
class Setting {
  public:
    std::shared_future<int> value() const { return value_; }
    void set(int value) { promise_.set_value(value); }

  private:
    std::promise<int> promise_;
    std::shared_future<int> value_ = promise_.get_future().share();
};

void describe(Graph &graph, const Setting &level) {
    graph.add("scan-lexer", {}, scanning("int next ( ) { return 1 ; }"));
    graph.add("scan-parser", {}, scanning("tree parse ( ) { return leaf ; }"));
    graph.add("level", {}, [value = level.value()](const std::vector<int> &) {
        return value.get();  // waits for the promise
    });
    graph.add("lexer", {"scan-lexer", "level"}, compile);
    graph.add("parser", {"scan-parser", "level"}, compile);
    graph.add("link", {"lexer", "parser"}, link);
    graph.add("check", {"link"}, check_size);
    graph.add("stamp", {"link"}, stamp);
}

// ---------------------------------------------------------------------------------------------
// Reports

std::string outcome(const Graph &graph, const std::string &name) {
    const TaskPtr &task = graph.task(name);
    try {
        task->done().get();
        return name + " " + std::to_string(task->result());
    } catch (const std::runtime_error &failure) {
        return name + " failed: " + failure.what();
    }
}

bool refuses_unknown_needs() {
    Graph graph;
    try {
        graph.add("a", {"b"}, link);
    } catch (const CycleError &) {
        return true;
    }
    return false;
}

int main() {
    Graph graph;
    Setting level;
    describe(graph, level);

    AsyncRunner async;
    ThreadRunner threads;
    LazyRunner lazy;
    graph.start([&](const Task &task) -> Runner & {
        if (task.name() == "stamp") {
            return lazy;
        }
        // What may fail is run by std::async: its exceptions are freed by who joined the thread.
        if (task.name() == "check" || task.name() == "link") {
            return async;
        }
        return threads;
    });
    level.set(3);

    // A last task outside of the graph, whose own thread takes the results of others.
    std::future<int> total = std::async(std::launch::async, [&graph] {
        graph.task("lexer")->done().wait();
        graph.task("parser")->done().wait();
        return graph.task("lexer")->result() + graph.task("parser")->result();
    });

    const int objects = total.get();
    const std::string checked = outcome(graph, "check");
    const std::string stamped = outcome(graph, "stamp");
    threads.finish();
    std::printf("%zu tasks, %zu in a row, objects %d, %s, %s, %s\n", graph.size(),
                graph.longest_chain().size(), objects, checked.c_str(), stamped.c_str(),
                refuses_unknown_needs() ? "no cycles" : "cycle");
    return 0;
}
