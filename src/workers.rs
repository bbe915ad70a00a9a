//! Many items, all cores: threads with a stack that deep nesting does not overflow.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// Room for the deepest function that the front end reads (see its limit on nesting).
const STACK: usize = 64 << 20;

/// Applies `work` to every item, each thread with a state of its own, and answers the results in order.
pub(crate) fn map<T: Sync, S, R: Send>(
    items: &[T],
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let run = || -> Result<()> {
        let mut state = state()?;
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                break;
            };
            mine.push((index, work(&mut state, item)?));
        }
        results
            .lock()
            .map_err(|_| Error::new("a worker thread ended early"))?
            .extend(mine);
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = cores.min(items.len());
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                std::thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, run)
            })
            .collect();
        for handle in handles {
            let handle =
                handle.map_err(|error| Error::new(format!("cannot start a thread: {error}")))?;
            handle
                .join()
                .map_err(|_| Error::new("a worker thread ended early"))??;
        }
        Ok::<(), Error>(())
    })?;
    let mut results = results
        .into_inner()
        .map_err(|_| Error::new("a worker thread ended early"))?;
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let doubled = map(&items, || Ok(()), |(), item| Ok(item * 2)).expect("nothing fails");
        assert_eq!(
            doubled,
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_first_error_is_the_answer() {
        let failed = map(
            &[1, 2, 3],
            || Ok(()),
            |(), item| match item {
                2 => Err(Error::new("two")),
                other => Ok(*other),
            },
        );
        assert_eq!(failed.expect_err("two fails").message, "two");
    }
}
