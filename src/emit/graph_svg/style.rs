//! How the picture looks, in light and in dark surroundings.

/// The pattern over what could not be understood.
pub(super) const HATCH: &str = r#"<defs><pattern id="rts-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern></defs>"#;

/// Every rule starts with `.rts`, so that a page that holds the picture keeps its own style.
pub(super) const STYLE: &str = "
.rts text{font:12px ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.rts .paper{fill:#fff}
.rts .function{font-size:18px;font-weight:bold}
.rts .file,.rts .legend text{fill:#59636e}
.rts .legend text{font-size:11px}
.rts .version{font-size:13px;font-weight:bold;fill:#59636e}
.rts .rule{stroke:#d1d9e0;fill:none}
.rts .box{fill:#f6f8fa;stroke:#6e7781}
.rts .predicate .box{fill:#eaeef2}
.rts .header text{font-weight:bold}
.rts .pill .box{fill:#59636e;stroke:#59636e}
.rts .pill text{fill:#fff;font-size:11px}
.rts .directive .box{fill:#eef0fb;stroke:#a5aacb}
.rts .directive text{fill:#5a5f86}
.rts .opaque .box{stroke-dasharray:4 3}
.rts .hatch{fill:url(#rts-hatch);stroke:none}
.rts .stripe{stroke:#d1d9e0;fill:none}
.rts .number{fill:#818b98;font-size:10px;text-anchor:end}
.rts .changed .box{fill:#ffdf80;stroke:#9a6700;stroke-width:1.6}
.rts .changed text{fill:#1f2328}
.rts .changed .number{fill:#7d5a00}
.rts .unvisited .box{fill:#fcfcfd;stroke:#d1d9e0}
.rts .unvisited text{fill:#8c959f}
.rts .unvisited .number{fill:#b4bcc5}
.rts .line{fill:none;stroke:#6e7781;stroke-width:1.2}
.rts .tip{fill:#6e7781}
.rts .pale .line{stroke:#c3cad2}
.rts .pale .tip{fill:#c3cad2}
.rts .danger .line{stroke:#cf222e;stroke-width:2.4}
.rts .danger .tip{fill:#cf222e;stroke:#cf222e}
.rts .label rect{fill:#fff;fill-opacity:.9}
.rts .label text{font-size:10px;text-anchor:middle;fill:#424a53}
.rts .label.pale text{fill:#8c959f}
.rts .label.danger text{fill:#cf222e;font-weight:bold}
@media (prefers-color-scheme:dark){
.rts text{fill:#e6edf3}
.rts .paper,.rts .label rect{fill:#0d1117}
.rts .file,.rts .legend text,.rts .version{fill:#9198a1}
.rts .rule,.rts .stripe{stroke:#3d444d}
.rts .box{fill:#1b222b;stroke:#7d8590}
.rts .predicate .box{fill:#262e38}
.rts .pill .box{fill:#9198a1;stroke:#9198a1}
.rts .pill text{fill:#0d1117}
.rts .directive .box{fill:#1d2035;stroke:#5a608a}
.rts .directive text{fill:#a8aed6}
.rts .changed .box{fill:#5c4300;stroke:#d29922}
.rts .changed text{fill:#fff1c9}
.rts .changed .number{fill:#d9b45b}
.rts .unvisited .box{fill:#10151b;stroke:#343b44}
.rts .unvisited text{fill:#6e7681}
.rts .unvisited .number{fill:#565d66}
.rts .line{stroke:#8b949e}
.rts .tip{fill:#8b949e}
.rts .pale .line{stroke:#3d444d}
.rts .pale .tip{fill:#3d444d}
.rts .danger .line{stroke:#ff6a69}
.rts .danger .tip{fill:#ff6a69;stroke:#ff6a69}
.rts .label text{fill:#b7bfc8}
.rts .label.pale text{fill:#6e7681}
.rts .label.danger text{fill:#ff8583}
}
";
