/* The C++ library: statics, call_once with exceptions, futures, shared mutexes, atomic waits. */
#include <mutex>
#include <thread>
#include <condition_variable>
#include <future>
#include <iostream>
#include <shared_mutex>
#include <vector>
#include <stdexcept>
#include <atomic>
#include "foretrace.h"
struct S {
    int v;
    S(int x):v(x) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ~S() {
        std::cout<<"~S "<<v<<"\n";
    }
};
S& get() {
    static S s(42);
    return s;
}
int tries;
struct T {
    T() {
        if(++tries<3) throw std::runtime_error("x");
    }
};
void bad() {
    static T t;
}
struct X {
    ~X() {
        std::cout<<"~X\n";
    }
} gx;
int main() {
    std::vector<std::thread> v;
    std::atomic<int> sum {
        0
    };
    for(int i=0;i<8;i++) v.emplace_back([&]{ sum+=get().v; });
    for(auto&t:v) t.join();
    std::cout<<sum<<"\n";
    for(int i=0;i<3;i++) try {
        bad();
        std::cout<<"ok\n";
    }
    catch(std::exception&e) {
        std::cout<<e.what()<<"\n";
    }
    std::once_flag f;
    int n=0;
    for(int i=0;i<3;i++) try {
        std::call_once(f,[&]{ if(++n<3) throw 1; });
        std::cout<<"once\n";
    }
    catch(int) {
        std::cout<<"threw\n";
    }
    auto fu=std::async(std::launch::async,[]{ return 7; });
    std::cout<<fu.get()<<"\n";
    std::promise<int> p;
    std::thread t([&]{ p.set_value(3); });
    std::cout<<p.get_future().get()<<"\n";
    t.join();
    std::shared_mutex sm;
     {
        std::shared_lock l(sm);
    }
     {
        std::unique_lock l(sm);
    }
    std::recursive_timed_mutex rt;
    rt.try_lock_for(std::chrono::milliseconds(1));
    rt.lock();
    rt.unlock();
    rt.unlock();
     {
        foretrace::block b("blk");
        FORETRACE_EVENT("ev",5);
        FORETRACE_EVENT0("ev0");
        FORETRACE_NAME(&n,"enn");
        FORETRACE_THREAD("thr");
    }
    std::atomic<int> w {
        0
    };
    std::thread tw([&]{ w.wait(0); std::cout<<"woken\n"; });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    w=1;
    w.notify_all();
    tw.join();
    return 0;
    }
