/*
 * foretrace.h: what a program can say of itself to Foretrace, in C (C89 on) and C++.
 *
 * Nothing here needs Foretrace: in a program that runs without it each of these is a test of a pointer, and with
 * NFORETRACE defined before the header nothing at all.
 *
 *   FORETRACE_BEGIN("transfer")     an atomic block begins in this thread; blocks nest
 *   FORETRACE_END("transfer")       ... and ends
 *   FORETRACE_EVENT("landing", 3)   something happened, with an integer
 *   FORETRACE_EVENT0("approved")    something happened
 *   FORETRACE_NAME(&balance, "balance")   the memory at this address has a name
 *   FORETRACE_THREAD("worker")      this thread has a name
 *
 * Code compiled with -fno-pic finds the agent only if the program is linked to it.
 *
 * In C++, `foretrace::block b("transfer");` is a block that ends with its scope.
 */
#ifndef FORETRACE_H
#define FORETRACE_H

#ifdef NFORETRACE

#define FORETRACE_BEGIN(name) ((void)0)
#define FORETRACE_END(name) ((void)0)
#define FORETRACE_EVENT(name, value) ((void)0)
#define FORETRACE_EVENT0(name) ((void)0)
#define FORETRACE_NAME(pointer, name) ((void)0)
#define FORETRACE_THREAD(name) ((void)0)

#else

#ifdef __cplusplus
extern "C" {
#endif

/* Weak: null where no agent is there. */
__attribute__((weak)) void foretrace_begin(const char *name);
__attribute__((weak)) void foretrace_end(const char *name);
__attribute__((weak)) void foretrace_event(const char *name, long value);
__attribute__((weak)) void foretrace_event0(const char *name);
__attribute__((weak)) void foretrace_name(const volatile void *pointer, const char *name);
__attribute__((weak)) void foretrace_thread(const char *name);

#ifdef __cplusplus
}
#endif

#define FORETRACE_BEGIN(name) (foretrace_begin ? foretrace_begin(name) : (void)0)
#define FORETRACE_END(name) (foretrace_end ? foretrace_end(name) : (void)0)
#define FORETRACE_EVENT(name, value) (foretrace_event ? foretrace_event((name), (value)) : (void)0)
#define FORETRACE_EVENT0(name) (foretrace_event0 ? foretrace_event0(name) : (void)0)
#define FORETRACE_NAME(pointer, name) (foretrace_name ? foretrace_name((pointer), (name)) : (void)0)
#define FORETRACE_THREAD(name) (foretrace_thread ? foretrace_thread(name) : (void)0)

#endif

#ifdef __cplusplus
namespace foretrace {

/* An atomic block from here to the end of the scope, exceptions included. */
class block {
public:
    explicit block(const char *name) : name_(name) { FORETRACE_BEGIN(name_); }
    ~block() { FORETRACE_END(name_); }

private:
    block(const block &);
    block &operator=(const block &);
    const char *name_;
};

}
#endif

#endif
