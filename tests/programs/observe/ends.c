// Ends in the way its argument says, with a thread that still runs.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how;

static void *other(void *none) {
    if (!strcmp(how, "exit-in-thread"))
        exit(9);
    if (!strcmp(how, "pthread-exit"))
        pthread_exit(0);
    if (!strcmp(how, "exit-call"))
        syscall(SYS_exit, 0);
    pause();
    return none;
}

static void once(int signal) {
    (void)signal;
    write(1, "once\n", 5);
}

static void handled(int signal) {
    (void)signal;
    write(1, "handled\n", 8);
    _exit(4);
}

int main(int count, char **words) {
    how = count > 1 ? words[1] : "return";
    setvbuf(stdout, 0, _IONBF, 0);
    const char *preload = getenv("LD_PRELOAD"), *observe = getenv("CONTECH_OBSERVE");
    printf("%s %s\n", preload ? preload : "none", observe ? observe : "none");
    struct sigaction old;
    sigaction(SIGSEGV, 0, &old);
    printf("%d %d\n", old.sa_handler == SIG_DFL, signal(SIGTERM, SIG_DFL) == SIG_DFL);
    printf("%d %d\n", sigset(SIGALRM, SIG_DFL) == SIG_DFL, sysv_signal(SIGHUP, SIG_DFL) == SIG_DFL);
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    if (!strcmp(how, "exit-call")) {
        // A thread that has ended leaves its row to the next one.
        for (int i = 0; i < 20; i++) {
            pthread_join(thread, 0);
            pthread_create(&thread, 0, other, 0);
        }
        pthread_join(thread, 0);
    }
    if (!strcmp(how, "exit-in-thread") || !strcmp(how, "pthread-exit"))
        pthread_join(thread, 0);
    if (!strcmp(how, "segfault"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "terminated"))
        raise(SIGTERM);
    if (!strcmp(how, "alarm"))
        raise(SIGALRM);
    if (!strcmp(how, "real-time"))
        raise(SIGRTMIN + 3);
    if (!strcmp(how, "trap"))
        __builtin_debugtrap();
    if (!strcmp(how, "handled")) {
        signal(SIGSEGV, handled);
        *(volatile int *)8 = 1;
    }
    if (!strcmp(how, "once")) {
        sysv_signal(SIGUSR1, once);
        raise(SIGUSR1);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "exit_group"))
        syscall(SYS_exit_group, 8);
    if (!strcmp(how, "_exit"))
        _exit(5);
    if (!strcmp(how, "quick_exit"))
        quick_exit(6);
    if (!strcmp(how, "exec"))
        execl("/bin/echo", "echo", "another program", (char *)0);
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (!child)
            exit(3);
        int status;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    return 2;
}
