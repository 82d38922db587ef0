//! Every exported symbol except those of [`crate::functions`] and those that are exported where
//! they are defined: see `life`, `locks`, `futex`, `openmp`.

use contech_interpose::exports;

use crate::api;

exports! {
    __contech_idle_begin = api::idle_begin;
    __contech_idle_end = api::idle_end;
    __contech_scheduling_begin = api::scheduling_begin;
    __contech_scheduling_end = api::scheduling_end;
    __contech_phase_begin = api::phase_begin;
    __contech_phase_end = api::phase_end;
    __contech_region_begin = api::region_begin;
    __contech_region_end = api::region_end;
}
