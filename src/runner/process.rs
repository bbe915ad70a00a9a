//! One process group: started, waited for, ended when its time is up, and nothing of it left behind.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, test_kill_process_group,
    waitid, waitpgid,
};

use super::interrupt::{Event, Interrupt};
use super::{Launch, descendants};

/// Between the request to end and the order.
const GRACE: Duration = Duration::from_secs(2);

/// For what a test started and did not wait for: a shell's last child, a daemon that was told to stop.
const SETTLING: Duration = Duration::from_millis(500);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Interrupted,
}

#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub end: End,
    /// Of the process that was started, without what it left behind.
    pub duration: Duration,
    /// Something that it started was still there. It was killed, if it was not meant for other tests.
    pub outlived: bool,
}

/// Runs a command to its end; what it prints is added to `log`.
pub fn run(launch: &Launch, log: &Path, interrupt: &Interrupt) -> io::Result<Ended> {
    let (sender, events) = channel();
    let output = OpenOptions::new().create(true).append(true).open(log)?;
    let mark = descendants::Mark::new();
    let mut command = command(launch, output)?;
    mark.put_on(&mut command);
    descendants::adopt();
    let (mut child, running) = interrupt.start(&sender, || command.spawn())?;
    let begin = Instant::now();
    let group = running.group;
    let watcher = std::thread::Builder::new().spawn(move || {
        // Left for its owner to reap: until then no other process can get its number.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(group), options), Err(Errno::INTR)) {}
        let _ = sender.send(Event::Ended);
    });
    if let Err(error) = watcher {
        let _ = kill_process_group(group, Signal::KILL);
        child.wait()?;
        return Err(error);
    }
    let cause = wait(&events, launch.timeout, group);
    let duration = begin.elapsed();
    let end = reap(&mut child)?;
    let end = cause.unwrap_or(end);
    let outlived = match cause {
        None if launch.prepares => !ends_within(group, SETTLING) || mark.has_descendants(),
        _ => settle(group) | mark.end_descendants(SETTLING),
    };
    Ok(Ended {
        end,
        duration,
        outlived,
    })
}

/// Adds a line of ours to a log.
pub(super) fn note(log: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)?
        .write_all(text.as_bytes())
}

fn command(launch: &Launch, output: File) -> io::Result<Command> {
    let Some((program, arguments)) = launch.command.split_first() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the command is empty",
        ));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&launch.folder)
        .process_group(0)
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output);
    for (name, value) in &launch.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(command)
}

/// Waits for the end and brings it about when it must be; answers why it had to.
fn wait(events: &Receiver<Event>, timeout: Option<Duration>, group: Pid) -> Option<End> {
    // A limit that no clock reaches is none.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let event = match deadline {
        Some(deadline) => events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    let cause = match event {
        Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return None,
        Ok(Event::Stop) => End::Interrupted,
        Err(RecvTimeoutError::Timeout) => End::TimedOut,
    };
    let _ = kill_process_group(group, Signal::TERM);
    // One that was stopped must go on to hear of it.
    let _ = kill_process_group(group, Signal::CONT);
    let patience = Instant::now() + GRACE;
    loop {
        match events.recv_timeout(patience.saturating_duration_since(Instant::now())) {
            Ok(Event::Stop) => {}
            Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = kill_process_group(group, Signal::KILL);
                break;
            }
        }
    }
    Some(cause)
}

fn reap(child: &mut Child) -> io::Result<End> {
    let status = child.wait()?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(0)),
    })
}

/// Waits a little for the rest of a group whose leader ended, then kills it; answers whether it had to.
fn settle(group: Pid) -> bool {
    if ends_within(group, SETTLING) {
        return false;
    }
    let _ = kill_process_group(group, Signal::KILL);
    ends_within(group, SETTLING);
    true
}

fn ends_within(group: Pid, patience: Duration) -> bool {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        // Orphans become our children; one that nobody reaps would count as alive for ever.
        while matches!(waitpgid(group, WaitOptions::NOHANG), Ok(Some(_))) {}
        if test_kill_process_group(group) == Err(Errno::SRCH) {
            return true;
        }
        if begin.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::super::shell;
    use super::*;

    struct Room {
        folder: TempDir,
        interrupt: Arc<Interrupt>,
    }

    impl Room {
        fn new() -> Self {
            Room {
                folder: tempfile::tempdir().expect("there is room"),
                interrupt: Interrupt::new(),
            }
        }

        fn file(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn launch(&self, text: &str, timeout: Option<Duration>) -> Launch {
            Launch {
                command: shell::run(text),
                environment: vec![("SET".into(), Some("1".into())), ("HOME".into(), None)],
                folder: self.folder.path().to_owned(),
                timeout,
                ..Launch::default()
            }
        }

        fn run(&self, text: &str, timeout: Option<Duration>) -> Ended {
            let launch = self.launch(text, timeout);
            run(&launch, &self.file("log"), &self.interrupt).expect("there is a shell")
        }

        fn log(&self) -> String {
            std::fs::read_to_string(self.file("log")).expect("it was written")
        }

        /// Whether the process whose number was written to this file is gone.
        fn is_gone(&self, name: &str) -> bool {
            let number = std::fs::read_to_string(self.file(name)).expect("it was written");
            let process = Pid::from_raw(number.trim().parse().expect("it is a number"));
            let begin = Instant::now();
            // A process that was killed is gone soon, not at once.
            while begin.elapsed() < Duration::from_secs(2) {
                let process = process.expect("it is not zero");
                if rustix::process::test_kill_process(process) == Err(Errno::SRCH) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            false
        }
    }

    const SHORT: Option<Duration> = Some(Duration::from_millis(200));

    #[test]
    fn codes_signals_and_output_are_told() {
        let room = Room::new();
        let ended = room.run(
            "echo out; echo err >&2; read x || echo \"$SET${HOME-none}\"; pwd; exit 3",
            None,
        );
        assert_eq!((ended.end, ended.outlived), (End::Exited(3), false));
        let folder = room.folder.path().canonicalize().expect("it is there");
        assert_eq!(
            room.log(),
            format!("out\nerr\n1none\n{}\n", folder.display())
        );
        assert_eq!(room.run("kill -SEGV $$", None).end, End::Signalled(11));
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        let room = Room::new();
        let launch = Launch {
            command: vec!["/nonexistent/program".into()],
            folder: room.folder.path().to_owned(),
            ..Launch::default()
        };
        let error = run(&launch, &room.file("log"), &room.interrupt).expect_err("it is missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_slow_test_is_ended_with_all_it_started() {
        let room = Room::new();
        let ended = room.run(
            "sleep 60 & echo $! > child; trap 'echo asked' TERM; wait; echo over",
            SHORT,
        );
        assert_eq!(ended.end, End::TimedOut);
        assert_eq!(room.log(), "asked\nover\n", "it may clean up");
        assert!(room.is_gone("child"));
    }

    #[test]
    fn a_test_that_ignores_the_request_is_killed() {
        let room = Room::new();
        let ended = room.run(
            "trap '' TERM; echo $$ > me; while :; do sleep 60; done",
            SHORT,
        );
        assert_eq!(ended.end, End::TimedOut);
        assert!(
            ended.duration >= GRACE && ended.duration < GRACE * 3,
            "{ended:?}"
        );
        assert!(room.is_gone("me"));
    }

    #[test]
    fn a_stopped_test_is_ended_too() {
        let room = Room::new();
        let ended = room.run("kill -STOP $$", SHORT);
        assert_eq!(ended.end, End::TimedOut);
        assert!(ended.duration < GRACE, "{ended:?}");
    }

    #[test]
    fn a_child_that_outlives_the_test_is_killed_and_told() {
        let room = Room::new();
        let ended = room.run("sleep 60 & echo $! > child; exit 0", None);
        assert_eq!((ended.end, ended.outlived), (End::Exited(0), true));
        assert!(
            ended.duration < Duration::from_secs(30),
            "what is left behind costs the test no time"
        );
        assert!(room.is_gone("child"));
    }

    #[test]
    fn what_a_test_prepares_for_others_goes_on() {
        let room = Room::new();
        for server in [
            "sleep 60 & echo $! > server",
            "setsid sh -c 'echo $$ > server; exec sleep 60' & while ! [ -s server ]; do sleep 0.01; done",
        ] {
            let mut launch = room.launch(server, None);
            launch.prepares = true;
            let ended = run(&launch, &room.file("log"), &room.interrupt).expect("it starts");
            assert_eq!((ended.end, ended.outlived), (End::Exited(0), true));
            // Another test is not to end it, either.
            assert!(!room.run("true", None).outlived);
            let ended = room.run("kill $(cat server) && rm server", None);
            assert_eq!(ended.end, End::Exited(0));
        }
    }

    #[test]
    fn a_child_that_ends_soon_after_is_waited_for() {
        let room = Room::new();
        let ended = room.run("(sleep 0.05; echo late) & exit 0", None);
        assert!(!ended.outlived);
        assert!(room.log().contains("late"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_daemon_in_a_session_of_its_own_is_found() {
        let room = Room::new();
        let ended = room.run("setsid sh -c 'echo $$ > daemon; exec sleep 60' & while ! [ -s daemon ]; do sleep 0.01; done", None);
        assert_eq!((ended.end, ended.outlived), (End::Exited(0), true));
        assert!(room.is_gone("daemon"));
    }

    #[test]
    fn an_interrupt_ends_what_runs_and_what_starts() {
        let room = Room::new();
        let interrupt = Arc::clone(&room.interrupt);
        let asking = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.request();
        });
        let ended = room.run("echo $$ > me; sleep 60", None);
        assert_eq!(ended.end, End::Interrupted);
        assert!(room.is_gone("me"));
        asking.join().expect("it only asked");
        assert_eq!(room.run("sleep 60", None).end, End::Interrupted);
    }
}
