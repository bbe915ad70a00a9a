//! What people and programs read: differences as text, JSON and TestTube's list; graphs as pictures.

pub mod diff_json;
pub mod diff_text;
pub mod edges;
pub mod graph;
mod graph_dot;
mod graph_layout;
mod graph_svg;
pub mod progress;
pub mod ttdiff;
