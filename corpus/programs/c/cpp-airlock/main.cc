// Two doors of an airlock, each worked by its own task. Both wait for the same signal to
// begin, but nothing keeps one door shut while the other is open.
#include <cstdio>
#include <future>

int inner_door = 0;
int outer_door = 0;

// Neither inlined nor left out: the compiler would keep only the last of several writes.
__attribute__((noinline)) void move_door(int &door, int position) {
    door = position;
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void let_in(std::shared_future<void> begin) {
    begin.wait();
    move_door(inner_door, 1);
    move_door(inner_door, 0);
}

__attribute__((noinline)) void let_out(std::shared_future<void> begin) {
    begin.wait();
    move_door(outer_door, 1);  // the mistake: the inner door may be open
    move_door(outer_door, 0);
}

int main() {
    std::promise<void> signal;
    std::shared_future<void> begin = signal.get_future().share();
    std::future<void> in = std::async(std::launch::async, let_in, begin);
    std::future<void> out = std::async(std::launch::async, let_out, begin);
    signal.set_value();
    in.get();
    out.get();
    std::printf("doors %d %d\n", inner_door, outer_door);
    return 0;
}
