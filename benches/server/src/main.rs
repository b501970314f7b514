//! Starts one server per contestant, checks their answers, and loads them in turn.
//!
//! Latencies are measured at a fixed rate, from the time at which a request was due, and throughput
//! in a short load without pauses. Processor time is the server's own, including system time.
//! Client and server share the machine, so compare figures within one run only.

use ebbtide_server::client::{self, Connection, Next, Requests};
use lexopt::prelude::*;
use std::{
    fmt::Write as _,
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

#[path = "../../src/driver.rs"]
mod driver;
#[path = "../../src/machine.rs"]
mod machine;

use driver::{Options, Process, Result};

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

/// The time for which a server is loaded before the next one takes its turn.
const TURN: Duration = Duration::from_secs(2);

/// The number of turns without pauses, at the end.
const FULL_TURNS: u32 = 3;

/// The number of requests that every server answers first, one after the other.
const COMPARED: u64 = 2_000;

struct Plan {
    seconds: u64,
    /// Requests per second.
    rate: f64,
}

fn option(
    plan: &mut Plan,
    name: &str,
    arguments: &mut lexopt::Parser,
) -> std::result::Result<bool, lexopt::Error> {
    match name {
        "seconds" => plan.seconds = arguments.value()?.parse()?,
        "rate" => plan.rate = arguments.value()?.parse()?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn main() -> ExitCode {
    let plan = Plan { seconds: 20, rate: 2_000.0 };
    driver::main("[--seconds N] [--rate N]", plan, option, run)
}

/// A contestant's process and its measurements.
struct Server {
    name: &'static str,
    process: Process,
    address: SocketAddr,
    next: Next,
    /// Latencies at the fixed rate, in seconds.
    times: Vec<f64>,
    /// Processor time at the fixed rate, in microseconds.
    processor: f64,
    /// Answers per second without pauses, one figure per turn.
    full: Vec<f64>,
    /// Microseconds of processor time per answer without pauses, one figure per turn.
    full_processor: Vec<f64>,
    /// Resident KiB after each turn at the fixed rate.
    resident: Vec<u64>,
}

impl Server {
    fn start(contestant: &Contestant, programs: &Path) -> Result<Self> {
        let mut command = Command::new(programs.join(contestant.program));
        let mut process = Process::start(command.args(contestant.arguments))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, process.read_line()?.parse()?));
        Ok(Server {
            name: contestant.name,
            process,
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

    /// One turn at the fixed rate.
    fn turn(&mut self, requests: &Requests, rate: f64) -> Result<()> {
        let before = self.processor()?;
        self.times.extend(client::load(self.address, requests, &self.next, TURN, Some(rate))?);
        self.processor += self.processor()? - before;
        self.resident.push(self.process.status_kib("VmRSS"));
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
}

/// Sends the same requests to all servers, one after the other, and checks that their answers are
/// equal.
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

fn run(plan: &Plan, options: &Options, programs: &Path) -> Result<()> {
    let contestants =
        CONTESTANTS.iter().filter(|contestant| contestant.name.contains(&options.only));
    let mut servers = contestants
        .map(|contestant| Server::start(contestant, programs))
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
    let peaks: Vec<u64> = servers.iter().map(|server| server.process.status_kib("VmHWM")).collect();
    for _ in 0..FULL_TURNS {
        servers.iter_mut().try_for_each(|server| server.full_turn(&requests))?;
    }
    let figures: Vec<Figures> = servers
        .iter_mut()
        .zip(peaks)
        .map(|(server, peak_kib)| Figures::of(server, peak_kib))
        .collect();
    let record = table(&figures) + &targets(&figures);
    if options.reports {
        for server in servers.iter().filter(|server| server.name.starts_with("ebbtide")) {
            println!("\n{}\n{}", server.name, server.ask("/report")?);
        }
    }
    if let Some(folder) = &options.csv {
        let begin = format!(
            "{}# {} requests a second to each, for {} seconds\n",
            machine::header(),
            plan.rate,
            turns * TURN.as_secs()
        );
        fs::write(folder.join("server.csv"), begin.clone() + &record)?;
        fs::write(folder.join("server-resident.csv"), begin + &resident)?;
    }
    servers.into_iter().try_for_each(|server| server.process.end())
}

/// The resident memory over time, one line per turn.
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

/// The results of one contestant.
struct Figures {
    name: &'static str,
    /// The number of answers at the fixed rate.
    requests: usize,
    /// Processor time per request at the fixed rate.
    processor_us: f64,
    p50_us: f64,
    p99_us: f64,
    p999_us: f64,
    /// Answers per second without pauses.
    full_rate: f64,
    full_processor_us: f64,
    middle_kib: u64,
    end_kib: u64,
    peak_kib: u64,
}

impl Figures {
    fn of(server: &mut Server, peak_kib: u64) -> Self {
        server.times.sort_by(f64::total_cmp);
        let requests = server.times.len();
        let latency = |share: f64| {
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
            let place = (requests as f64 * share) as usize;
            server.times[place.min(requests - 1)] * 1e6
        };
        let [p50_us, p99_us, p999_us] = [0.5, 0.99, 0.999].map(latency);
        let [full_rate, full_processor_us] =
            [&mut server.full, &mut server.full_processor].map(|figures| median(figures));
        let resident = &server.resident;
        Figures {
            name: server.name,
            requests,
            processor_us: server.processor / requests as f64,
            p50_us,
            p99_us,
            p999_us,
            full_rate,
            full_processor_us,
            middle_kib: resident[resident.len() / 2],
            end_kib: resident[resident.len() - 1],
            peak_kib,
        }
    }
}

/// One of the figures.
type Figure = fn(&Figures) -> f64;

/// The columns of the record and of the table: the name, the digits after the point, the figure.
const COLUMNS: [(&str, usize, Figure); 10] = [
    ("requests", 0, |figures| figures.requests as f64),
    ("cpu_us", 2, |figures| figures.processor_us),
    ("p50_us", 0, |figures| figures.p50_us),
    ("p99_us", 0, |figures| figures.p99_us),
    ("p999_us", 0, |figures| figures.p999_us),
    ("full_rate", 0, |figures| figures.full_rate),
    ("full_cpu_us", 2, |figures| figures.full_processor_us),
    ("resident_middle_kib", 0, |figures| figures.middle_kib as f64),
    ("resident_end_kib", 0, |figures| figures.end_kib as f64),
    ("peak_kib", 0, |figures| figures.peak_kib as f64),
];

/// Prints the figures, and returns them for the record.
fn table(all: &[Figures]) -> String {
    let mut record = String::from("contestant");
    print!("{:<36}", "");
    for (name, ..) in COLUMNS {
        record += &format!(",{name}");
        print!(" {name:>12}");
    }
    for figures in all {
        record += &format!("\n\"{}\"", figures.name);
        print!("\n{:<36}", figures.name);
        for (name, digits, figure) in COLUMNS {
            let figure = figure(figures);
            record += &format!(",{figure:.digits$}");
            print!(" {figure:>width$.digits$}", width = name.len().max(12));
        }
    }
    println!();
    record + "\n"
}

/// Prints which targets are met, and returns the same as comments for the record. Targets that
/// compare with a contestant that was left out are skipped.
fn targets(all: &[Figures]) -> String {
    let (ours, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|figures| figures.name.starts_with("ebbtide"));
    let mut record = String::new();
    let mut target = |what: String, value: f64, most: f64| {
        let verdict = if value <= most { "met" } else { "MISSED" };
        let line = format!("{verdict}: {what}: {value:.2}, at most {most:.2}");
        println!("  {line}");
        let _ = writeln!(record, "# {line}");
    };
    println!();
    let least = |of: &[&Figures], figure: Figure| {
        of.iter().map(|figures| figure(figures)).min_by(f64::total_cmp)
    };
    let figures: [(&str, Figure); 2] = [
        ("CPU a request, our least against the others' least, us", |figures| figures.processor_us),
        ("p99.9, our least against the others' least, us", |figures| figures.p999_us),
    ];
    for (what, figure) in figures {
        if let (Some(ours), Some(others)) = (least(&ours, figure), least(&others, figure)) {
            target(what.to_owned(), ours, others);
        }
    }
    let glibc = others.iter().find(|figures| figures.name == "glibc");
    for Figures { name, middle_kib, end_kib, peak_kib, .. } in ours {
        if let Some(glibc) = glibc {
            let ratio = *peak_kib as f64 / glibc.peak_kib as f64;
            target(format!("{name}: peak memory, of glibc's"), ratio, 1.5);
        }
        let growth = *end_kib as f64 / *middle_kib as f64;
        target(format!("{name}: memory at the end, of that in the middle"), growth, 1.1);
    }
    record
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
