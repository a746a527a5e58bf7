//! Memory of the heap is called as the sources call it, in all that a reader sees.

use crate::common::Folder;
use serde_json::Value;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct queue { int head; pthread_mutex_t lock; };
struct pool { struct queue *queue; pthread_mutex_t lock; long done; };

static struct pool *make(void) {
    struct pool *pool = malloc(sizeof *pool);
    pool->queue = malloc(sizeof(struct queue));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->queue->lock, NULL);
    return pool;
}

static void *both(void *arg) {
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    pthread_mutex_lock(&p->queue->lock);
    p->done++;
    pthread_mutex_unlock(&p->queue->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *other(void *arg) {
    struct pool *p = arg;
    /* Long after the first thread, but nothing orders them. */
    usleep(300000);
    pthread_mutex_lock(&p->queue->lock);
    pthread_mutex_lock(&p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->queue->lock);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    struct pool *pool = make();
    pthread_create(&one, NULL, both, pool);
    pthread_create(&two, NULL, other, pool);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
"#;

#[test]
fn locks_of_the_heap_are_called_by_the_variables_that_lead_to_them() {
    let folder = Folder::new();
    folder.write("program.c", PROGRAM);
    folder.ok(&["cc", "-g", "-O1", "-pthread", "program.c", "-o", "program"]);
    let check = || {
        let ran = folder.run(&["check", "t.ftrace", "--json", "found.json"]);
        let json: Value = serde_json::from_slice(&folder.read("found.json")).expect("JSON");
        (ran.stdout, json["findings"][0].clone())
    };
    folder.ok(&["record", "-o", "t.ftrace", "--", "./program"]);
    let (text, found) = check();
    for part in [
        "predicted deadlock on pool->lock (heap#",
        "holding pool->lock\n",
        "pool->queue->lock taken at ",
        "holds pool->lock and waits for pool->queue->lock",
        "acq(pool->queue->lock)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("acq(heap#"), "{text}");
    let objects: Vec<&str> = found["objects"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(objects.len() == 2 && objects.iter().all(|name| name.starts_with("heap#")), "{found}");
    assert_eq!(found["called"][objects[0]], "pool->lock", "{found}");
    assert!(found["message"].as_str().is_some_and(|why| why.contains(objects[1])), "{found}");
    // A source that was changed since says nothing of this run. It is the same finding all the same.
    std::fs::remove_file(folder.path("program.c")).expect("no source any more");
    let (text, nameless) = check();
    assert!(!text.contains("pool->") && text.contains("acq(heap#"), "{text}");
    assert_eq!((&nameless["fingerprint"], &nameless["objects"]), (&found["fingerprint"], &found["objects"]));
    assert!(nameless.get("called").is_none(), "{nameless}");
}
