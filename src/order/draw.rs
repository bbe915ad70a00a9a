//! Draws from a seed, so that what is random once is the same again everywhere.

/// The generator splitmix64 (Steele, Lea, Flood 2014): one number of state, and good enough for choosing tests.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product: the bias is the bound over 2^64, which no suite can show.
        let product = u128::from(self.number()) * bound as u128;
        (product >> 64) as usize
    }

    /// Whether something happens that does so with this chance, from 0 to 1.
    pub fn happens(&mut self, chance: f64) -> bool {
        const STEPS: u64 = 1 << 53;
        ((self.number() >> 11) as f64) < chance * STEPS as f64
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut draw = Draw::new(1_234_567);
        let numbers = [draw.number(), draw.number(), draw.number()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn every_place_is_drawn_about_as_often() {
        let mut draw = Draw::new(7);
        let mut drawn = [0; 5];
        for _ in 0..5000 {
            drawn[draw.below(5)] += 1;
        }
        assert!(
            drawn.iter().all(|times| (900..1100).contains(times)),
            "{drawn:?}"
        );
    }

    #[test]
    fn what_has_a_chance_of_a_quarter_happens_a_quarter_of_the_time() {
        let mut draw = Draw::new(11);
        let times = (0..4000).filter(|_| draw.happens(0.25)).count();
        assert!((900..1100).contains(&times), "{times}");
        assert!((0..100).all(|_| draw.happens(1.0) && !draw.happens(0.0)));
    }

    #[test]
    fn a_shuffled_list_has_the_same_things() {
        let mut list: Vec<usize> = (0..100).collect();
        Draw::new(3).shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
