//! The environment that CTest's properties ask for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::listing::Properties;

type Changes = Vec<(OsString, Option<OsString>)>;

/// The entries of ENVIRONMENT.
pub(super) fn named(entries: &[String]) -> impl Iterator<Item = (&str, &str)> {
    entries.iter().filter_map(|entry| entry.split_once('='))
}

/// What the properties change over what we inherited and already set; none if we do not understand them.
pub(super) fn changes(properties: &Properties, already: &Changes) -> Option<Changes> {
    let is_known = |entry: &String| entry.contains('=');
    if !properties.environment.iter().all(is_known) {
        return None;
    }
    let set = named(&properties.environment).map(|(name, value)| (name.into(), Some(value.into())));
    let mut changes: Changes = set.collect();
    // The value before ENVIRONMENT_MODIFICATION, to which its `reset` goes back.
    let before = |name: &OsStr| {
        let mut ours = changes.iter().rev().chain(already.iter().rev());
        let ours = ours.find(|(other, _)| other == name);
        ours.map_or_else(|| std::env::var_os(name), |(_, value)| value.clone())
    };
    let mut modified = BTreeMap::<OsString, Option<OsString>>::new();
    for entry in &properties.environment_modification {
        let (name, operation) = entry.split_once('=')?;
        let (operation, value) = operation.split_once(':')?;
        let first = before(name.as_ref());
        let current = modified.entry(name.into()).or_insert_with(|| first.clone());
        *current = match operation {
            "set" => Some(value.into()),
            "unset" => None,
            "reset" => first,
            "string_append" => joined(current.take(), value, "", false),
            "string_prepend" => joined(current.take(), value, "", true),
            "path_list_append" => joined(current.take(), value, ":", false),
            "path_list_prepend" => joined(current.take(), value, ":", true),
            "cmake_list_append" => joined(current.take(), value, ";", false),
            "cmake_list_prepend" => joined(current.take(), value, ";", true),
            _ => return None,
        };
    }
    changes.extend(modified);
    Some(changes)
}

fn joined(
    current: Option<OsString>,
    value: &str,
    between: &str,
    in_front: bool,
) -> Option<OsString> {
    let Some(current) = current.filter(|current| !current.is_empty()) else {
        return Some(value.into());
    };
    let (mut first, second) = if in_front {
        (OsString::from(value), current)
    } else {
        (current, OsString::from(value))
    };
    first.push(between);
    first.push(second);
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(
        environment: &[&str],
        modification: &[&str],
    ) -> Option<BTreeMap<String, Option<String>>> {
        let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let properties = Properties {
            environment: strings(environment),
            environment_modification: strings(modification),
            ..Properties::default()
        };
        let already = vec![("PATH".into(), Some("/ours:/bin".into()))];
        let text = |text: OsString| text.into_string().expect("it is text");
        let changes = changes(&properties, &already)?.into_iter();
        Some(
            changes
                .map(|(name, value)| (text(name), value.map(text)))
                .collect(),
        )
    }

    #[test]
    fn values_are_set_whole() {
        let all = after(&["A=b=c", "B="], &[]).expect("it is known");
        assert_eq!(all["A"].as_deref(), Some("b=c"));
        assert_eq!(all["B"].as_deref(), Some(""));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn modifications_build_on_what_is_there() {
        let all = after(
            &["L=x", "S=mid"],
            &[
                "PATH=path_list_prepend:/x",
                "PATH=path_list_append:/y:z",
                "L=cmake_list_append:y",
                "S=string_prepend:a",
                "S=string_append:b",
                "GIT_RTS_UNHEARD_OF=path_list_append:/z",
                "U=set:1",
                "U=unset:",
                "R=set:1",
                "R=reset:",
                "L2=set:",
            ],
        )
        .expect("every operation is known");
        assert_eq!(all["PATH"].as_deref(), Some("/x:/ours:/bin:/y:z"));
        assert_eq!(all["L"].as_deref(), Some("x;y"));
        assert_eq!(all["S"].as_deref(), Some("amidb"));
        assert_eq!(all["GIT_RTS_UNHEARD_OF"].as_deref(), Some("/z"));
        assert_eq!(all["U"], None);
        assert_eq!(all["R"], None);
        assert_eq!(all["L2"].as_deref(), Some(""));
    }

    #[test]
    fn an_unknown_entry_is_not_guessed() {
        assert!(after(&["A"], &[]).is_none());
        assert!(after(&[], &["A=twist:b"]).is_none());
        assert!(after(&[], &["A"]).is_none());
    }
}
