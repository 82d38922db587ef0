//! What analyses of the page are told.

use anyhow::{Result, bail};

use super::Budget;
use crate::analysis::{Graph, Windows, accesses_of, default_config};
use crate::cache::{self, Sample};
use crate::memuse::{self, MemUse};
use crate::misses::{self, Misses};
use crate::races::{self, Races};
use crate::scaling::Measured;
use crate::sharing::{self, Sharing};
use crate::size::Sizes;

/// Options of the analyses.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Choices {
    /// Options of the miss curves.
    #[command(flatten)]
    pub cache: cache::Options,
    /// What of a long run the models of the page look at
    #[command(flatten)]
    pub budget: Budget,
    /// Speedups measured by `contech scale --format json`, to set beside the bounds of work and
    /// span
    #[arg(long, value_name = "FILE", value_parser = Measured::argument())]
    pub measured: Option<Measured>,
}

impl Choices {
    /// The share of the lines that misses are estimated from; `None` for all of them.
    fn sample(&self, graph: &Graph) -> Option<f64> {
        let within = |most| Sample::within(accesses_of(graph, 64), most).rate();
        let budget = || self.budget.lines().and_then(within);
        self.cache.sample.or_else(budget)
    }

    /// What of the run is looked at by models that need all lines and all contexts; `None` for all
    /// of it.
    pub(crate) fn windows(&self, graph: &Graph) -> Option<Windows> {
        Windows::within(accesses_of(graph, 8), self.budget.all_lines()?)
    }

    pub(crate) fn sharing(&self, graph: &Graph) -> Result<sharing::Options> {
        Ok(sharing::Options { windows: self.windows(graph), ..default_config::<Sharing>()? })
    }

    pub(crate) fn races(&self, graph: &Graph) -> Result<races::Options> {
        Ok(races::Options { windows: self.windows(graph), ..default_config::<Races>()? })
    }

    /// The options of the miss curves. With a sample that nobody asked for, sizes that are modelled
    /// roughly are left out, and caches that were asked for are exact.
    fn cache(&self, graph: &Graph) -> Result<cache::Options> {
        let (mut options, usual) = (self.cache.clone(), cache::Options::default());
        if options.private {
            bail!(
                "--private: the page is about one shared cache; `contech-backend cache` has others"
            );
        }
        let Some(rate) = self.sample(graph).filter(|_| options.sample.is_none()) else {
            return Ok(options);
        };
        if (&options.ways, &options.sizes) != (&usual.ways, &usual.sizes) {
            return Ok(options);
        }
        let least = Sample::new(rate).rough().saturating_mul(options.line.bytes());
        let sizes = options.sizes.as_slice().iter();
        let fine = sizes.filter(|size| size.bytes() >= least).copied();
        options.sizes = Sizes::of(fine).unwrap_or(usual.sizes);
        options.sample = Some(rate);
        Ok(options)
    }

    /// The misses by place and the curves are of one pass over the same lines.
    pub(crate) fn misses(&self, graph: &Graph) -> Result<misses::Options> {
        let curves = self.cache(graph)?;
        Ok(misses::Options {
            line: curves.line,
            sample: curves.sample,
            curves: Some(curves),
            ..default_config::<Misses>()?
        })
    }

    /// Of a run whose misses are estimated, memory is followed in the same pass as sharing.
    pub(crate) fn memuse(&self, graph: &Graph) -> Result<memuse::Options> {
        Ok(memuse::Options {
            slice_ns: self.sample(graph).map(|_| sharing::SLICE),
            ..default_config::<MemUse>()?
        })
    }
}
