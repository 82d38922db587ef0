//! What strands are charged with.

/// Idle processor time that a strand is to blame for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Charge {
    /// The number of the strand.
    pub(super) strand: usize,
    /// The group of the time.
    pub(super) group: u32,
    /// How much of it.
    pub(super) ns: f64,
}

/// The charges of all strands.
#[derive(Debug, Default)]
pub(super) struct Charges(Vec<Charge>);

impl Charges {
    /// Charges a strand.
    pub(super) fn add(&mut self, strand: usize, group: u32, ns: f64) {
        self.0.push(Charge { strand, group, ns });
    }

    /// Puts the charges in the order of strands, and adds up those of one strand and group.
    pub(super) fn settle(&mut self) {
        self.0.sort_by_key(|charge| (charge.strand, charge.group));
        self.0.dedup_by(|more, sum| {
            let same = (more.strand, more.group) == (sum.strand, sum.group);
            if same {
                sum.ns += more.ns;
            }
            same
        });
    }

    /// All charges.
    pub(super) fn all(&self) -> impl Iterator<Item = &Charge> {
        self.0.iter()
    }

    /// The charges of a strand, once they are settled.
    pub(super) fn of(&self, strand: usize) -> &[Charge] {
        let begin = self.0.partition_point(|charge| charge.strand < strand);
        let own = self.0[begin..].iter();
        &self.0[begin..][..own.take_while(|charge| charge.strand == strand).count()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_of_one_strand_and_group_add_up_and_others_stay_apart() {
        let mut charges = Charges::default();
        for (strand, group, ns) in
            [(4, 1, 8.0), (2, 0, 1.0), (9, 0, 16.0), (4, 0, 4.0), (2, 0, 2.0)]
        {
            charges.add(strand, group, ns);
        }
        charges.settle();
        let of = |strand| -> Vec<(u32, f64)> {
            let found = charges.of(strand).iter();
            found.map(|charge| (charge.group, charge.ns)).collect()
        };
        assert_eq!(of(1), []);
        assert_eq!(of(2), [(0, 3.0)]);
        assert_eq!(of(4), [(0, 4.0), (1, 8.0)]);
        assert_eq!(of(9), [(0, 16.0)]);
        assert_eq!(of(10), []);
    }
}
