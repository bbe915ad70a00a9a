//! Fault matrices out of a seed, with the proportions of the programs in Kim and Porter's experiment.

use std::fmt::Write as _;

use git_rts::order::draw::Draw;

pub(crate) const TESTS: usize = 100;
pub(crate) const VERSIONS: usize = 15;
/// How many edges the larger changes endanger at most; most changes were of a single line (section 5.3.1).
const EDGES: usize = 3;
/// How many tests reveal a fault at most: the paper's faults were hard to reveal.
const REVEALING: usize = 8;

/// Tests that reach far into the program cross nearly every change, the others few; changes lie at different depths. So the safe technique selects about 60 % on average, with a large variance, as in section 6.1.3.
pub(crate) fn matrix(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let mut text = String::from("fault-matrix\t1\n");
    for test in 0..TESTS {
        let _ = writeln!(text, "test\tt{test:02}\t{}", 5 + draw.below(200));
    }
    let reach: Vec<usize> = (0..TESTS).map(|_| draw.below(100)).collect();
    for version in 1..=VERSIONS {
        let depth = draw.below(80);
        let edges = match draw.below(5) {
            0 => 2 + draw.below(EDGES - 1),
            _ => 1,
        };
        let _ = writeln!(text, "version\tv{version}");
        let mut crossing = Vec::new();
        for (test, reach) in reach.iter().enumerate() {
            // What a test reaches is not only a matter of depth.
            let strays = draw.below(10) == 0;
            if (*reach >= depth) == strays {
                continue;
            }
            let first = draw.below(edges);
            let last = first + draw.below(edges - first);
            let _ = write!(text, "crosses\tt{test:02}");
            for edge in first..=last {
                let _ = write!(text, "\tv{version}:{edge}");
            }
            text.push('\n');
            crossing.push(test);
        }
        draw.shuffle(&mut crossing);
        // A suite reveals every fault (section 5.3.3).
        let mut revealing = crossing[..(1 + draw.below(REVEALING)).min(crossing.len())].to_vec();
        revealing.sort_unstable();
        for test in revealing {
            let _ = writeln!(text, "reveals\tt{test:02}\tf{version}");
        }
    }
    text
}
