//! Writes the accesses of all records of one table in a batch.

use std::ops::Range;

use super::Rows;
use crate::frame::decode::{DecodedFrame, Table};
use crate::frame::template::{Addresses, Near, Site, Straight};

/// With this many records, each address is computed for all of them before the next address.
const MANY: usize = 16;

pub(super) struct Kernel<'k> {
    pub(super) t: &'k Straight,
    pub(super) table: &'k Table,
    pub(super) rows: &'k Rows,
    pub(super) frame: &'k DecodedFrame,
    pub(super) front: u64,
}

impl<'k> Kernel<'k> {
    pub(super) fn write(&self, addresses: &mut [u64], sites: &mut [Site], row: &mut Vec<u64>) {
        match &self.t.addresses {
            Addresses::Near(near) => match near.len() {
                0 => {}
                1 => self.near::<1>(near, addresses, sites),
                2 => self.near::<2>(near, addresses, sites),
                3 => self.near::<3>(near, addresses, sites),
                4 => self.near::<4>(near, addresses, sites),
                5 => self.near::<5>(near, addresses, sites),
                6 => self.near::<6>(near, addresses, sites),
                7 => self.near::<7>(near, addresses, sites),
                8 => self.near::<8>(near, addresses, sites),
                _ => self.any(addresses, sites, row),
            },
            Addresses::Any(_) => self.any(addresses, sites, row),
        }
    }

    fn range(&self) -> Range<usize> {
        self.rows.first..self.rows.first + self.rows.places.len()
    }

    /// Returns a value of all records, and the distance from one record's value to the next.
    fn column(&self, value: usize) -> (&'k [u64], usize) {
        match value.checked_sub(self.t.fields) {
            None => {
                let column = self.table.field(value, self.range(), &self.frame.columns);
                (column, 1)
            }
            Some(k) => {
                let carried = self.rows.carried.get(k..).unwrap_or(&[]);
                (carried, self.t.carried.len())
            }
        }
    }

    /// Writes `N` addresses for each record, each of which is near a value.
    fn near<const N: usize>(&self, near: &[Near], addresses: &mut [u64], sites: &mut [Site]) {
        let (Some(near), Some(own)) = (near.first_chunk::<N>(), self.t.sites.first_chunk::<N>())
        else {
            return;
        };
        let columns = near.map(|near| self.column(near.value as usize));
        let n = self.rows.places.len();
        let short = |(column, step): &(&[u64], usize)| column.len() < (n - 1) * step + 1;
        if columns.iter().any(short) {
            return;
        }
        for (i, place) in self.rows.places.iter().enumerate() {
            let place = *place as usize;
            let (Some(to), Some(names)) =
                (addresses.get_mut(place..place + N), sites.get_mut(place..place + N))
            else {
                continue;
            };
            for ((to, near), (column, step)) in to.iter_mut().zip(near).zip(&columns) {
                *to = (column[i * step].wrapping_add(near.add) & near.mask) | self.front;
            }
            names.copy_from_slice(own);
        }
    }

    fn any(&self, addresses: &mut [u64], sites: &mut [Site], row: &mut Vec<u64>) {
        let (t, n) = (self.t, self.t.sites.len());
        let values = t.fields + t.carried.len();
        let columns: Vec<_> = (0..values).map(|value| self.column(value)).collect();
        let places = || self.rows.places.iter().map(|place| *place as usize);
        for place in places() {
            if let Some(names) = sites.get_mut(place..place + n) {
                names.copy_from_slice(&t.sites);
            }
        }
        if let Addresses::Any(values) = &t.addresses
            && self.rows.places.len() >= MANY
        {
            for (k, value) in values.iter().enumerate() {
                let all = value.eval_all(self.rows.places.len(), &columns);
                for (place, address) in places().zip(all) {
                    addresses[place + k] = address | self.front;
                }
            }
            return;
        }
        for (i, place) in places().enumerate() {
            row.clear();
            let value = |(column, step): &(&[u64], usize)| column.get(i * step).copied();
            row.extend(columns.iter().map(|column| value(column).unwrap_or(0)));
            if let Some(to) = addresses.get_mut(place..place + n) {
                write(&t.addresses, row, to, self.front);
            }
        }
    }
}

/// Computes the addresses of one execution from its row.
#[inline]
pub(super) fn write(addresses: &Addresses, row: &[u64], to: &mut [u64], front: u64) {
    match addresses {
        Addresses::Near(near) => {
            for (to, near) in to.iter_mut().zip(near) {
                *to = (row[near.value as usize].wrapping_add(near.add) & near.mask) | front;
            }
        }
        Addresses::Any(values) => {
            for (to, value) in to.iter_mut().zip(values) {
                *to = value.eval(row, &[]) | front;
            }
        }
    }
}
