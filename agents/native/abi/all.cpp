// What C++ adds: tables of virtual functions, guards, exceptions.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Base {
    virtual ~Base() {}
    virtual int f() { return 1; }
    int x = 0;
};
struct Derived : Base {
    ~Derived() override { y = 0; }
    int f() override { return y; }
    int y = 2;
};
Base *make(bool b) { return b ? new Derived : new Base; }
void destroy(Base *b) { delete b; }
int call(Base *b) { return b->f(); }
std::string &name() {
    static std::string s("name");
    return s;
}
int throws(int *p) {
    try {
        if (*p) throw std::runtime_error(name());
        return *p;
    } catch (std::exception &e) {
        return e.what()[0];
    }
}
long shared(std::shared_ptr<std::vector<long>> v) {
    long sum = 0;
    for (long x : *v) sum += x;
    return sum;
}
bool flag(std::atomic<bool> &b) { return b.exchange(true) && std::atomic_flag().test_and_set(); }
