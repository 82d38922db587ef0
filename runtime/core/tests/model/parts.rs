//! Parts of a buffer that wait for the writer while their thread goes on.

use crate::thread::{Arrived, Thread, desk, numbers, write};
use crate::{beside, model};

crate::tests! {
    a_buffer_is_not_used_again_while_a_part_of_it_waits_however_it_was_given_up
}

fn a_buffer_is_not_used_again_while_a_part_of_it_waits_however_it_was_given_up() {
    // With nothing behind the last part, the buffer is given up without a message of its own.
    for behind in [0, 1] {
        model(None, move || {
            let desk = desk();
            let thread = Thread::new(1);
            let writer = beside(&desk, |desk| {
                let mut arrived = Arrived::default();
                write(desk, &mut arrived);
                arrived
            });
            assert!(thread.flush(&desk));
            thread.record();
            thread.publish(&desk);
            for _ in 0..behind {
                thread.record();
            }
            assert!(thread.flush(&desk));
            thread.record();
            thread.end(&desk);
            let mut arrived = writer.join().unwrap();
            write(&desk, &mut arrived);
            assert_eq!(arrived.records[&1], numbers(2 + behind));
        });
    }
}
