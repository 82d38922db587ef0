// Forks while other threads create and join threads without a pause; each child creates a thread and joins it.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int done;

static void *nothing(void *arg) { return arg; }

static void *creates(void *arg) {
    while (!done) {
        pthread_t thread;
        if (pthread_create(&thread, 0, nothing, 0) == 0)
            pthread_join(thread, 0);
    }
    return arg;
}

int main(void) {
    pthread_t threads[4];
    int bad = 0, status;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, creates, 0);
    for (int i = 0; i < 100 && !bad; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t own;
            alarm(5); // A child that hangs is ended.
            _exit(pthread_create(&own, 0, nothing, 0) || pthread_join(own, 0));
        }
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    done = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", bad);
    return bad != 0;
}
