//! What contexts make and take at queues in a replay, and the jobs of queues that are dealt out to
//! them.

use super::super::counted::Counted;
use super::super::strands::{NO_WAIT, index};
use super::{At, Dealt, LATE, Replay, Watch};

impl<W: Watch> Replay<'_, W> {
    /// How many of a context's own strands come before the one that it does.
    pub(super) fn passed(&self, context: u32) -> u32 {
        let of = &self.contexts[context as usize];
        let at = match of.deals {
            true => self.dealt.get(&context).map_or(of.next, |dealt| dealt.own),
            false => of.next,
        };
        at - of.own.start
    }

    /// Gives a context its next job, where its own jobs begin or a job has ended.
    pub(super) fn deal(&mut self, context: u32) {
        let of = &mut self.contexts[context as usize];
        let next = of.next;
        let dealt = match self.dealt.get(&context) {
            Some(&dealt) if dealt.until == next => dealt,
            Some(_) => return,
            None => match self.strands.pools.get(&next) {
                Some(pool) => Dealt { queue: pool.queue, own: next, until: next, last: pool.last },
                None => return,
            },
        };
        let stock = &mut self.stocks[dealt.queue as usize];
        let jobs = &self.strands.queues[dealt.queue as usize].jobs;
        match jobs.get(stock.dealt) {
            Some(job) => {
                stock.dealt += 1;
                (of.next, of.deals) = (job.start, true);
                let until = job.end;
                self.dealt.insert(context, Dealt { until, ..dealt });
            }
            None => {
                (of.next, of.deals) = (dealt.last, false);
                self.dealt.remove(&context);
            }
        }
    }

    /// Whether a context has to wait for what it takes from a queue before a strand. Otherwise it
    /// has taken it, or has made something.
    pub(super) fn lacks(&mut self, number: u32, at: usize) -> bool {
        let at = index(at);
        let Some(&counted) = self.strands.counts.get(&at) else {
            return false;
        };
        if std::mem::replace(&mut self.contexts[number as usize].counted, true) {
            return false;
        }
        let Counted { queue, wait, .. } = counted;
        let (stock, amount) = (&mut self.stocks[queue as usize], i64::from(counted.number));
        if wait == NO_WAIT {
            stock.made += amount;
            self.wake(queue);
            return false;
        }
        let of = &self.strands.queues[queue as usize];
        let (taken, made) = (stock.taken + amount, stock.made);
        if made - taken >= of.lead || self.is_removed(&self.removable.waits, wait as usize) {
            self.stocks[queue as usize].taken = taken;
            return false;
        }
        self.contexts[number as usize].counted = false;
        let waiting = &mut self.stocks[queue as usize].queue;
        waiting.push_back((number, counted.number));
        self.contexts[number as usize].at = At::Lacking;
        let maker = of.maker(taken);
        let maker = maker.map(|strand| self.strands.context_of(strand as usize));
        self.watch.waits(number, wait, maker);
        true
    }

    /// Lets those that wait for a queue try to take what was made.
    pub(super) fn wake(&mut self, queue: u32) {
        let stock = &self.stocks[queue as usize];
        let mut left = stock.made - stock.taken - self.strands.queues[queue as usize].lead;
        while let Some(&(next, number)) = self.stocks[queue as usize].queue.front()
            && left >= i64::from(number)
        {
            left -= i64::from(number);
            self.stocks[queue as usize].queue.pop_front();
            self.watch.waited(next);
            let counted = self.strands.counts.get(&self.contexts[next as usize].next);
            let number = counted.map_or(NO_WAIT, |counted| counted.wait);
            let late = self.strands.waits.get(number as usize).map_or(0, |wait| wait.latency_ns);
            if late > 0 && self.removed & LATE == 0 {
                self.sleep(next, number, late, At::Waking);
            } else {
                self.contexts[next as usize].at = At::Trying;
                self.woken.push(next);
            }
        }
    }

    /// Gives somebody what it waits for, though it was not made.
    pub(super) fn supply(&mut self) -> Option<u32> {
        let stocks = &mut self.stocks;
        let stock = stocks.iter_mut().find(|stock| !stock.queue.is_empty())?;
        let (context, number) = stock.queue.pop_front()?;
        stock.taken += i64::from(number);
        let of = &mut self.contexts[context as usize];
        (of.counted, of.at) = (true, At::Trying);
        Some(context)
    }
}
