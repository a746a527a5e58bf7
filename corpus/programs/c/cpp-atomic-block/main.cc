// A booking that must be atomic reads the number of seats under the lock and writes it back
// under the lock, but lets go of it in between: what the supplier adds there is overwritten.
#include <cstdio>
#include <mutex>
#include <thread>

#include "foretrace.h"

std::mutex seats_guard;
int seats = 3;

__attribute__((noinline)) int seats_left() {
    std::lock_guard<std::mutex> hold(seats_guard);
    return seats;
}

__attribute__((noinline)) void set_seats(int count) {
    std::lock_guard<std::mutex> hold(seats_guard);
    seats = count;
}

__attribute__((noinline)) void supply() {
    std::lock_guard<std::mutex> hold(seats_guard);
    seats = 100;
}

class Booking {
  public:
    // The mistake: two sections of the lock in one block that is meant to be atomic.
    __attribute__((noinline)) void book() {
        FORETRACE_BEGIN("book");
        const int left = seats_left();
        if (left < 10) {
            supplier_ = std::thread(supply);
        }
        set_seats(left - 1);
        FORETRACE_END("book");
    }

    void finish() { supplier_.join(); }

  private:
    std::thread supplier_;
};

int main() {
    Booking booking;
    std::thread clerk(&Booking::book, &booking);
    clerk.join();
    booking.finish();
    std::printf("%s\n", seats_left() > 0 ? "booked" : "sold out");
    return 0;
}
