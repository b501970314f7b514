//! Starts one server a contestant, checks their answers, and loads them in turn.
//!
//! Latencies are of a fixed rate, counted from the time at which a request was due. The rate of
//! answers is of a short load without pauses. Processor time is the server's own, the system's part
//! included. Client and server share the machine, so figures compare within one run only.

use ebbtide_server::client::{self, Connection, Next, Requests};
use lexopt::prelude::*;
use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

#[path = "../../src/machine.rs"]
mod machine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Contestant {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

const fn contestant(
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
) -> Contestant {
    Contestant { name, program, arguments }
}

const CONTESTANTS: [Contestant; 8] = [
    contestant("glibc", "server-glibc", &["none"]),
    contestant("mimalloc", "server-mimalloc", &["none"]),
    contestant("jemalloc", "server-jemalloc", &["none"]),
    contestant("ebbtide: a scope a request", "server-ebbtide", &["scope"]),
    contestant("ebbtide: a scope, sessions outside", "server-ebbtide", &["scope", "outside"]),
    contestant("ebbtide: a future a request", "server-ebbtide", &["future"]),
    contestant("ebbtide: a future, sessions outside", "server-ebbtide", &["future", "outside"]),
    contestant("ebbtide: explicit arenas, glibc", "server-glibc", &["explicit"]),
];

/// How long a server is loaded before it is another one's turn.
const TURN: Duration = Duration::from_secs(2);

/// The turns without pauses, at the end.
const FULL_TURNS: u32 = 3;

/// Requests that every server answers at first, one after the other.
const COMPARED: u64 = 2_000;

struct Plan {
    seconds: u64,
    rate: f64,
    only: String,
    reports: bool,
    csv: Option<PathBuf>,
}

impl Plan {
    fn from_arguments() -> std::result::Result<Self, lexopt::Error> {
        let mut plan =
            Plan { seconds: 20, rate: 2_000.0, only: String::new(), reports: false, csv: None };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("seconds") => plan.seconds = arguments.value()?.parse()?,
                Long("rate") => plan.rate = arguments.value()?.parse()?,
                Long("only") => plan.only = arguments.value()?.string()?,
                Long("reports") => plan.reports = true,
                Long("csv") => plan.csv = Some(arguments.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

fn main() -> ExitCode {
    let plan = match Plan::from_arguments() {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!(
                "{error}\nusage: [--seconds N] [--rate N] [--only TEXT] [--reports] [--csv FOLDER]"
            );
            return ExitCode::from(2);
        }
    };
    match run(&plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A contestant's process, and what was measured of it.
struct Server {
    name: &'static str,
    child: Child,
    address: SocketAddr,
    next: Next,
    /// Seconds, at the fixed rate.
    times: Vec<f64>,
    /// Microseconds of processor time, at the fixed rate.
    processor: f64,
    /// Answers a second without pauses, one figure a turn.
    full: Vec<f64>,
    /// Microseconds of processor time an answer without pauses, one figure a turn.
    full_processor: Vec<f64>,
    /// Resident KiB after each turn at the fixed rate.
    resident: Vec<u64>,
}

impl Server {
    fn start(contestant: &Contestant, programs: &Path) -> Result<Self> {
        let mut command = Command::new(programs.join(contestant.program));
        command.args(contestant.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or("standard output was asked for")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, line.trim().parse()?));
        Ok(Server {
            name: contestant.name,
            child,
            address,
            next: Next::default(),
            times: Vec::new(),
            processor: 0.0,
            full: Vec::new(),
            full_processor: Vec::new(),
            resident: Vec::new(),
        })
    }

    fn ask(&self, path: &str) -> Result<String> {
        let mut connection = Connection::open(self.address)?;
        Ok(String::from_utf8_lossy(connection.ask(&client::get(path))?).into_owned())
    }

    fn processor(&self) -> Result<f64> {
        Ok(self.ask("/usage")?.parse()?)
    }

    /// A figure of the process's status, in KiB.
    fn status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// One turn at the fixed rate.
    fn turn(&mut self, requests: &Requests, rate: f64) -> Result<()> {
        let before = self.processor()?;
        self.times.extend(client::load(self.address, requests, &self.next, TURN, Some(rate))?);
        self.processor += self.processor()? - before;
        self.resident.push(self.status("VmRSS:"));
        Ok(())
    }

    /// One turn without pauses.
    fn full_turn(&mut self, requests: &Requests) -> Result<()> {
        let before = self.processor()?;
        let answers = client::load(self.address, requests, &self.next, TURN, None)?.len() as f64;
        self.full.push(answers / TURN.as_secs_f64());
        self.full_processor.push((self.processor()? - before) / answers);
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        if self.child.wait()?.success() { Ok(()) } else { Err("a server failed".into()) }
    }
}

/// Sends the same requests to all, one after the other: all must answer the same.
fn compare(servers: &[Server]) -> Result<()> {
    let mut expected: Vec<Vec<u8>> = Vec::new();
    for server in servers {
        let mut connection = Connection::open(server.address)?;
        for number in 0..COMPARED {
            let request = client::request(number);
            let answer = connection.ask(&request)?;
            let place = usize::try_from(number)?;
            match expected.get(place) {
                None => expected.push(answer.to_vec()),
                Some(expected) if expected == answer => {}
                Some(_) => {
                    let request = String::from_utf8_lossy(&request).into_owned();
                    return Err(format!("{} answers otherwise: {request}", server.name).into());
                }
            }
        }
    }
    Ok(())
}

fn run(plan: &Plan) -> Result<()> {
    let programs = build()?;
    let contestants = CONTESTANTS.iter().filter(|contestant| contestant.name.contains(&plan.only));
    let mut servers = contestants
        .map(|contestant| Server::start(contestant, &programs))
        .collect::<Result<Vec<_>>>()?;
    compare(&servers)?;
    let requests = Requests::new(10_000);
    let turns = plan.seconds.div_ceil(TURN.as_secs()).max(2);
    for turn in 0..turns {
        let count = servers.len();
        for place in 0..count {
            let index = (usize::try_from(turn)? + place) % count;
            servers[index].turn(&requests, plan.rate)?;
        }
    }
    let resident = resident(&servers);
    let peaks: Vec<u64> = servers.iter().map(|server| server.status("VmHWM:")).collect();
    for _ in 0..FULL_TURNS {
        servers.iter_mut().try_for_each(|server| server.full_turn(&requests))?;
    }
    let record = table(&mut servers, &peaks);
    if plan.reports {
        for server in servers.iter().filter(|server| server.name.starts_with("ebbtide")) {
            println!("\n{}\n{}", server.name, server.ask("/report")?);
        }
    }
    if let Some(folder) = &plan.csv {
        let begin = format!(
            "{}# {} requests a second to each, for {} seconds\n",
            machine::header(),
            plan.rate,
            turns * TURN.as_secs()
        );
        fs::write(folder.join("server.csv"), begin.clone() + &record)?;
        fs::write(folder.join("server-resident.csv"), begin + &resident)?;
    }
    servers.into_iter().try_for_each(Server::end)
}

/// The resident memory over time, a line a turn.
fn resident(servers: &[Server]) -> String {
    let mut record = String::from("contestant,seconds,resident_kib\n");
    for server in servers {
        for (turn, kib) in (1..).zip(&server.resident) {
            let seconds = turn * TURN.as_secs();
            let _ = writeln!(record, "\"{}\",{seconds},{kib}", server.name);
        }
    }
    record
}

/// Prints the figures, and returns them for the record.
fn table(servers: &mut [Server], peaks: &[u64]) -> String {
    let mut record = String::from(
        "contestant,requests,cpu_us,p50_us,p99_us,p999_us,full_rate,full_cpu_us,resident_middle_kib,resident_end_kib,peak_kib\n",
    );
    println!(
        "{:<36} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8} {:>10} {:>9} {:>9}",
        "",
        "CPU us",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "most/s",
        "CPU us",
        "middle MiB",
        "end MiB",
        "peak MiB"
    );
    for (server, &peak) in servers.iter_mut().zip(peaks) {
        server.times.sort_by(f64::total_cmp);
        let answers = server.times.len();
        let latency = |share: f64| {
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
            let place = (answers as f64 * share) as usize;
            server.times[place.min(answers - 1)] * 1e6
        };
        let processor = server.processor / answers as f64;
        let [full, full_processor] =
            [&mut server.full, &mut server.full_processor].map(|figures| median(figures));
        let resident = &server.resident;
        let (middle, end) = (resident[resident.len() / 2], resident[resident.len() - 1]);
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(latency);
        let mib = |kib: u64| kib as f64 / 1024.0;
        println!(
            "{:<36} {processor:>8.1} {p50:>8.0} {p99:>8.0} {p999:>9.0} {full:>8.0} {full_processor:>8.1} {:>10.1} {:>9.1} {:>9.1}",
            server.name,
            mib(middle),
            mib(end),
            mib(peak),
        );
        let _ = writeln!(
            record,
            "\"{}\",{answers},{processor:.2},{p50:.0},{p99:.0},{p999:.0},{full:.0},{full_processor:.2},{middle},{end},{peak}",
            server.name,
        );
    }
    record
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Builds the contestants beside this program, so that none is older than it; returns their folder.
fn build() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "--bins", "--manifest-path"]).arg(manifest);
    if !command.status()?.success() {
        return Err("the servers cannot be built".into());
    }
    let this = env::current_exe()?;
    Ok(this.parent().ok_or("a program lies in a folder")?.to_owned())
}
