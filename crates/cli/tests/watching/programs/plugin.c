/* A library that a program loads while it runs. */
#include "foretrace.h"

int plugin_counter;

void plugin_ticks(int count) {
    for (int i = 0; i < count; i++) {
        plugin_counter++;
        FORETRACE_EVENT("tick", i);
    }
}
