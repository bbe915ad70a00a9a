//! Two versions to entity differences, affected names, dangerous edges and paired edges. Pure: no file, no process, no clock.

pub mod affected;
pub mod entity_difference;
pub mod functions;
pub mod select_inter_tests;
pub mod select_tests;
