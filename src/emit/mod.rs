//! What people and programs read: differences as text, JSON and TestTube's list; selected tests as lists for other tools; graphs and distributions as pictures.

pub mod box_plot;
pub mod diff_json;
pub mod diff_text;
pub mod edges;
pub mod graph;
mod graph_dot;
mod graph_layout;
pub mod graph_side;
mod graph_svg;
pub mod junit;
pub mod lcov;
pub mod list;
pub mod loudness;
pub mod objects;
pub mod plan_json;
pub mod plan_text;
pub mod progress;
pub mod reasons;
pub mod report;
pub mod simulation_text;
pub mod ttdiff;
pub mod uncovered;
