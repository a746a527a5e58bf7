/* Operators new and delete. */
#include <memory>
#include <vector>
#include <cstdio>
#include <new>
struct alignas(64) A {
    char c[64];
};
__attribute__((noinline)) int* one() {
    return new int(3);
}
__attribute__((noinline)) int* many() {
    return new int[100];
}
int main() {
    int*p=one();
    int*q=many();
    A*a=new A;
    A*b=new(std::nothrow) A[3];
    delete p;
    delete[] q;
    delete a;
    delete[] b;
    std::vector<int> v(1000);
    try {
        volatile size_t big=(size_t)1<<62;
        char*z=new char[big];
        printf("%p\n",z);
    }
    catch(std::bad_alloc&) {
        puts("bad");
    }
    printf("%d\n", new(std::nothrow) char[(size_t)1<<62]==nullptr);
    int*l=nullptr;
    delete l;
    return 0;
}
