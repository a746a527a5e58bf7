/* A small bank: accounts with a lock each, a ledger, standing orders from a script, and transfers that lock the giver
 * first. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEDGER_ROOM 64
#define LINE_ROOM 80
#define ORDERS_MAX 16

/* ---- accounts ---- */

struct account {
    pthread_mutex_t lock;
    const char *name;
    long cents;
    long lowest; /* how far the account may be overdrawn, as a negative number */
    unsigned movements;
};

struct account checking = {.lock = PTHREAD_MUTEX_INITIALIZER, .name = "checking", .cents = 100000, .lowest = -20000};
struct account savings = {.lock = PTHREAD_MUTEX_INITIALIZER, .name = "savings", .cents = 500000, .lowest = 0};
struct account fees = {.lock = PTHREAD_MUTEX_INITIALIZER, .name = "fees", .cents = 0, .lowest = 0};

static struct account *const accounts[] = {&checking, &savings, &fees};
#define ACCOUNTS (sizeof accounts / sizeof accounts[0])

static struct account *account_find(const char *name) {
    for (size_t i = 0; i < ACCOUNTS; i++)
        if (strcmp(accounts[i]->name, name) == 0)
            return accounts[i];
    return NULL;
}

/* The caller holds the account's lock. */
static int account_change(struct account *account, long cents) {
    if (cents < 0 && account->cents + cents < account->lowest)
        return -1;
    account->cents += cents;
    account->movements++;
    return 0;
}

/* ---- ledger ---- */

enum entry_kind { ENTRY_TRANSFER, ENTRY_FEE, ENTRY_DEPOSIT, ENTRY_REFUSED };

struct entry {
    enum entry_kind kind;
    const char *from;
    const char *to;
    long cents;
};

struct ledger {
    pthread_mutex_t lock;
    struct entry entries[LEDGER_ROOM];
    unsigned used;
    unsigned lost;
};

static struct ledger ledger = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A leaf: nothing else is locked while the ledger is. */
static void ledger_add(enum entry_kind kind, const char *from, const char *to, long cents) {
    pthread_mutex_lock(&ledger.lock);
    if (ledger.used == LEDGER_ROOM) {
        ledger.lost++;
    } else {
        struct entry *entry = &ledger.entries[ledger.used++];
        entry->kind = kind;
        entry->from = from;
        entry->to = to;
        entry->cents = cents;
    }
    pthread_mutex_unlock(&ledger.lock);
}

static unsigned ledger_count(enum entry_kind kind) {
    unsigned count = 0;
    pthread_mutex_lock(&ledger.lock);
    for (unsigned i = 0; i < ledger.used; i++)
        if (ledger.entries[i].kind == kind)
            count++;
    pthread_mutex_unlock(&ledger.lock);
    return count;
}

/* ---- movements ---- */

static void deposit(struct account *to, long cents) {
    pthread_mutex_lock(&to->lock);
    account_change(to, cents);
    pthread_mutex_unlock(&to->lock);
    ledger_add(ENTRY_DEPOSIT, "cash", to->name, cents);
}

/*
 * The bug: the giver's lock comes first. Two transfers in opposite directions can each hold one lock and
 * wait for the other.
 */
__attribute__((noinline)) static int transfer(struct account *from, struct account *to, long cents) {
    int outcome;
    if (from == to || cents <= 0)
        return -1;
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    outcome = account_change(from, -cents);
    if (outcome == 0)
        account_change(to, cents);
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    ledger_add(outcome == 0 ? ENTRY_TRANSFER : ENTRY_REFUSED, from->name, to->name, cents);
    return outcome;
}

/* Fees go one way only, so their order is always the same. */
static void charge_fee(struct account *from, long cents) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&fees.lock);
    if (account_change(from, -cents) == 0)
        account_change(&fees, cents);
    pthread_mutex_unlock(&fees.lock);
    pthread_mutex_unlock(&from->lock);
    ledger_add(ENTRY_FEE, from->name, fees.name, cents);
}

static long fee_for(long cents) {
    long fee = cents / 1000;
    if (fee < 5)
        fee = 5;
    if (fee > 500)
        fee = 500;
    return fee;
}

/* ---- standing orders ---- */

enum order_kind { ORDER_MOVE, ORDER_PAY_IN };

struct order {
    enum order_kind kind;
    struct account *from;
    struct account *to;
    long cents;
    unsigned times;
};

struct order_list {
    struct order orders[ORDERS_MAX];
    unsigned count;
    unsigned bad_lines;
};

static int parse_word(const char **at, char *word, size_t room) {
    size_t length = 0;
    while (**at == ' ')
        (*at)++;
    while (**at != '\0' && **at != ' ' && **at != '\n' && length + 1 < room) {
        word[length++] = **at;
        (*at)++;
    }
    word[length] = '\0';
    return length > 0;
}

static int parse_number(const char **at, long *number) {
    char word[24];
    char *end;
    if (!parse_word(at, word, sizeof word))
        return 0;
    *number = strtol(word, &end, 10);
    return *end == '\0';
}

/* "move FROM TO CENTS TIMES" or "payin TO CENTS TIMES" */
static int parse_order(const char *line, struct order *order) {
    char verb[16], name[24];
    long times;
    if (!parse_word(&line, verb, sizeof verb))
        return 0;
    if (strcmp(verb, "move") == 0) {
        order->kind = ORDER_MOVE;
        if (!parse_word(&line, name, sizeof name))
            return 0;
        order->from = account_find(name);
        if (order->from == NULL)
            return 0;
    } else if (strcmp(verb, "payin") == 0) {
        order->kind = ORDER_PAY_IN;
        order->from = NULL;
    } else {
        return 0;
    }
    if (!parse_word(&line, name, sizeof name))
        return 0;
    order->to = account_find(name);
    if (order->to == NULL || !parse_number(&line, &order->cents) || !parse_number(&line, &times))
        return 0;
    order->times = times < 0 ? 0 : (unsigned)times;
    return 1;
}

static void parse_script(const char *script, struct order_list *list) {
    char line[LINE_ROOM];
    memset(list, 0, sizeof *list);
    while (*script != '\0') {
        size_t length = strcspn(script, "\n");
        size_t kept = length < sizeof line - 1 ? length : sizeof line - 1;
        memcpy(line, script, kept);
        line[kept] = '\0';
        script += length + (script[length] == '\n');
        if (line[0] == '\0' || line[0] == '#')
            continue;
        if (list->count < ORDERS_MAX && parse_order(line, &list->orders[list->count]))
            list->count++;
        else
            list->bad_lines++;
    }
}

static void run_order(const struct order *order) {
    for (unsigned i = 0; i < order->times; i++) {
        switch (order->kind) {
        case ORDER_MOVE:
            if (transfer(order->from, order->to, order->cents) == 0)
                charge_fee(order->from, fee_for(order->cents));
            break;
        case ORDER_PAY_IN:
            deposit(order->to, order->cents);
            break;
        }
    }
}

/* ---- clerks: one thread for each script ---- */

struct clerk {
    pthread_t thread;
    const char *script;
    struct order_list list;
};

static void *clerk_main(void *arg) {
    struct clerk *clerk = arg;
    parse_script(clerk->script, &clerk->list);
    for (unsigned i = 0; i < clerk->list.count; i++)
        run_order(&clerk->list.orders[i]);
    return NULL;
}

static int clerk_start(struct clerk *clerk, const char *script) {
    clerk->script = script;
    return pthread_create(&clerk->thread, NULL, clerk_main, clerk);
}

/* ---- the day's end, when all clerks have left ---- */

static void report_line(char *text, size_t room, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
}

static long audit(void) {
    long sum = 0;
    for (size_t i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_lock(&accounts[i]->lock);
        sum += accounts[i]->cents;
        pthread_mutex_unlock(&accounts[i]->lock);
    }
    return sum;
}

int main(void) {
    static const char *const morning =
        "# salary first, then put something aside\n"
        "move checking savings 2500 2\n"
        "payin checking 120000 1\n"
        "move checking savings 40000 1\n"
        "move nowhere savings 1 1\n";
    static const char *const afternoon =
        "move savings checking 30000 1\n"
        "payin savings 700 3\n"
        "\n"
        "move savings checking 9000000 1\n";
    static struct clerk clerks[2];
    char text[240] = "";
    long before = audit();
    if (clerk_start(&clerks[0], morning) != 0)
        return 1;
    usleep(60000); /* the first clerk has long gone to lunch; the second does not hear of it */
    if (clerk_start(&clerks[1], afternoon) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(clerks[i].thread, NULL);
    long after = audit();
    report_line(text, sizeof text, "%s by %ld,", after > before ? "grown" : "not grown", after - before);
    report_line(text, sizeof text, " %u transfers,", ledger_count(ENTRY_TRANSFER));
    report_line(text, sizeof text, " %u refused,", ledger_count(ENTRY_REFUSED));
    report_line(text, sizeof text, " %u bad lines", clerks[0].list.bad_lines + clerks[1].list.bad_lines);
    puts(text);
    for (size_t i = 0; i < ACCOUNTS; i++)
        pthread_mutex_destroy(&accounts[i]->lock);
    return after - before == 122100 ? 0 : 1;
}
