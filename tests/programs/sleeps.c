// Whatever a thread waits in for time or for input is a task of its own, which depends on nothing.
// MODE: verify
// COUNT: sleep 10
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct timespec span = {.tv_nsec = 1000};
  struct timeval short_span = {.tv_usec = 1};
  int set = epoll_create1(0);
  struct epoll_event event;
  int slept = nanosleep(&span, NULL);
  slept += clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
  slept += usleep(1);
  slept += (int)sleep(0);
  slept += thrd_sleep(&span, NULL);
  int ready = poll(NULL, 0, 1);
  ready += ppoll(NULL, 0, &span, NULL);
  ready += select(0, NULL, NULL, NULL, &short_span);
  ready += epoll_wait(set, &event, 1, 1);
  ready += epoll_pwait(set, &event, 1, 1, NULL);
  close(set);
  printf("%d %d\n", slept, ready);
}
