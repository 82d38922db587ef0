//! The analyses and commands, in one executable, so that they are linked once.

mod account;
mod analyses;
mod by_time;
mod cache;
mod cli;
mod critpath;
mod custom_tool;
mod executors;
mod folder;
mod graphs;

mod memuse;
mod misses;
mod nests;
mod passes;
mod profile;
mod races;
mod report;
mod report_in_browser;
mod run;
mod samples;
mod scale;
mod scaling_recorded;
mod shares;
mod sharing;
mod states;
mod workspan;
