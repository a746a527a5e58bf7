// Parcels go from a packer to a shipper and are freed there; their memory comes back to the packer
// by the allocator alone, so that the same addresses are used by both threads again and again.
// Labels are made by placement new in a buffer that is handed over with the parcel.
#include <condition_variable>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

struct Label {
    explicit Label(int number) : number_(number) {}
    int number() const { return number_; }

  private:
    int number_;
};

// Large, so that the allocator gives it back to the arena it came from.
struct Parcel {
    ~Parcel() {
        if (label != nullptr) {
            label->~Label();
        }
    }

    void stick(int number) { label = new (room) Label(number); }

    int weight = 0;
    Label *label = nullptr;
    alignas(Label) unsigned char room[sizeof(Label)];
    char content[2000];
};

class Belt {
  public:
    void put(std::unique_ptr<Parcel> parcel) {
        std::unique_lock<std::mutex> hold(lock_);
        changed_.wait(hold, [this] { return parcels_.size() < 3; });
        parcels_.push_back(std::move(parcel));
        changed_.notify_all();
    }

    std::unique_ptr<Parcel> take() {
        std::unique_lock<std::mutex> hold(lock_);
        changed_.wait(hold, [this] { return !parcels_.empty(); });
        std::unique_ptr<Parcel> parcel = std::move(parcels_.front());
        parcels_.pop_front();
        changed_.notify_all();
        return parcel;
    }

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::list<std::unique_ptr<Parcel>> parcels_;
};

constexpr int count = 30;

__attribute__((noinline)) int pack(Belt &belt, int number) {
    auto parcel = std::make_unique<Parcel>();
    Parcel &packed = *parcel;
    packed.weight = 10 + number;
    packed.stick(number);
    const int weight = packed.weight;
    belt.put(std::move(parcel));
    return weight;
}

__attribute__((noinline)) int ship(Belt &belt) {
    const std::unique_ptr<Parcel> parcel = belt.take();
    parcel->weight += 1;  // the stamp
    return parcel->weight + parcel->label->number();
}

int main() {
    Belt belt;
    long packed = 0;
    long shipped = 0;
    std::thread packer([&] {
        for (int i = 0; i < count; ++i) {
            packed += pack(belt, i);
        }
    });
    std::thread shipper([&] {
        for (int i = 0; i < count; ++i) {
            shipped += ship(belt);
        }
    });
    packer.join();
    shipper.join();
    std::printf("packed %ld, shipped %ld\n", packed, shipped);
    return 0;
}
