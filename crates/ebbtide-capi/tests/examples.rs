//! Claim: the programs in `examples` do what they say, with every installed compiler, also under
//! sanitizers and with bad input.

#![cfg(target_os = "linux")]

use crate::common::{Program, compilers, run};
use ebbtide_patience::PATIENCE;
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Barrier, OnceLock},
    thread,
};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic"];
const ASAN: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"];
const TSAN: &[&str] = &["-O1", "-g", "-fsanitize=thread"];

/// Compiles an example of several files.
fn example(compiler: &str, flags: &[&str], files: &[&str]) -> Program {
    let files: Vec<String> = files.iter().map(|file| format!("{EXAMPLES}/{file}")).collect();
    let mut flags = [STRICT, flags].concat();
    flags.extend(files[1..].iter().map(String::as_str));
    Program::compile(compiler, &files[0], &flags)
}

/// The JSON parser, compiled once with every compiler.
fn json() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    let files = ["meson/main.c", "meson/json.c"];
    let flags = [&["-std=c11"], ASAN].concat();
    PROGRAMS.get_or_init(|| compilers("cc").map(|cc| example(cc, &flags, &files)).collect())
}

fn output(program: &Program, input: &str) -> String {
    run(&mut Command::new(program.path()), input)
}

/// Documents, and the expected answers of the parser in C.
const DOCUMENTS: &[(&str, &str)] = &[
    ("null", "null"),
    (" [ true , false ]\t", "[true,false]"),
    ("{}", "{}"),
    ("[]", "[]"),
    (r#"{"a":{"b":[1,[2,[3]],4]},"c":"d"}"#, r#"{"a":{"b":[1,[2,[3]],4]},"c":"d"}"#),
    (r#"{"x":1,"id":42}"#, r#"42: {"x":1,"id":42}"#),
    (r#"{"id":1,"id":2}"#, r#"2: {"id":1,"id":2}"#),
    ("[0,-0,10,-1.5,1e3,2E-2,1.25e+2]", "[0,-0,10,-1.5,1000,0.02,125]"),
    ("[0.1,1e308,5e-324]", "[0.1,1e+308,4.94065645841247e-324]"),
    ("0.30000000000000004", "0.30000000000000004"),
    (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\u0008\u000c\u000a\u000d\u0009""#),
    (r#""A\u00e9\u20ac\ud834\udd1eé""#, r#""Aé€𝄞é""#),
    (r#"["","\u0000"]"#, r#"["","\u0000"]"#),
    ("", "error: 1:1: expected a value"),
    ("  ", "error: 1:3: expected a value"),
    ("[1,]", "error: 1:4: expected a value"),
    ("[1 2]", "error: 1:4: expected ',' or ']'"),
    ("[1", "error: 1:3: expected ',' or ']'"),
    (r#"{"a" 1}"#, "error: 1:6: expected ':'"),
    (r#"{"a":1,}"#, "error: 1:8: expected a string"),
    (r#"{"a":1"#, "error: 1:7: expected ',' or '}'"),
    ("{1:2}", "error: 1:2: expected a string"),
    ("nul", "error: 1:4: expected a value"),
    ("nullx", "error: 1:5: expected the end"),
    ("01", "error: 1:2: expected the end"),
    ("-", "error: 1:2: expected a digit"),
    ("1.", "error: 1:3: expected a digit"),
    ("1e+", "error: 1:4: expected a digit"),
    (".5", "error: 1:1: expected a value"),
    ("NaN", "error: 1:1: expected a value"),
    ("-1e999", "error: 1:7: number too large"),
    (r#""abc"#, "error: 1:5: string without an end"),
    (r#""abc\"#, "error: 1:6: string without an end"),
    (r#""\x""#, "error: 1:3: unknown escape"),
    (r#""\u12g4""#, "error: 1:6: expected four hexadecimal digits"),
    (r#""\ud800""#, "error: 1:8: half of a surrogate pair"),
    (r#""\ud800\u0041""#, "error: 1:14: half of a surrogate pair"),
    (r#""\udc00""#, "error: 1:8: half of a surrogate pair"),
    ("\"a\tb\"", "error: 1:3: control character in a string"),
    ("\"a\\\u{1}\"", "error: 1:4: unknown escape"),
    ("\"a\0b\"", "error: 1:3: control character in a string"),
    ("[\0]", "error: 1:2: expected a value"),
];

#[test]
fn the_json_parser_reads_documents_and_names_errors_with_their_position() {
    let deepest = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let too_deep = format!("[{deepest}]");
    let mut documents = DOCUMENTS.to_vec();
    documents.extend([(&*deepest, &*deepest), (&too_deep, "error: 1:129: nested too deep")]);
    let (inputs, outputs): (Vec<&str>, Vec<&str>) = documents.iter().copied().unzip();
    for program in json() {
        let text = output(program, &(inputs.join("\n") + "\n"));
        let answers: Vec<&str> = text.lines().take(documents.len()).collect();
        assert_eq!(answers, outputs);
    }
}

/// A sequence of numbers that looks random.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 1_u32;
    move |below| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    }
}

#[test]
fn the_json_parser_accepts_what_serde_json_accepts_and_reads_the_same() {
    const BYTES: &[u8] = b"\"\\/[]{},: \t0123456789.eE+-untrfals\x01\x00";
    let mut below = numbers();
    let lines: Vec<String> = (0..20_000)
        .map(|_| {
            let (document, _) = DOCUMENTS[below(13)];
            let mut bytes = document.replace("\"id\"", "\"ID\"").into_bytes();
            for _ in 0..below(3) {
                let (at, byte) = (below(bytes.len()), BYTES[below(BYTES.len())]);
                match below(3) {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ if bytes.len() > 1 => drop(bytes.remove(at)),
                    _ => {}
                }
            }
            // Only whole characters: serde_json rejects others, the parser in C accepts them.
            String::from_utf8(bytes).unwrap_or_default()
        })
        .collect();
    let text = output(&json()[0], &(lines.join("\n") + "\n"));
    let mut counts = [0; 2];
    for (line, answer) in lines.iter().zip(text.lines()) {
        match serde_json::from_str::<Value>(line) {
            Ok(expected) => {
                let found: Value = serde_json::from_str(answer).unwrap_or_default();
                assert!(same(&expected, &found), "{line}\n{answer}");
                counts[0] += 1;
            }
            Err(error) => {
                assert!(answer.starts_with("error: "), "{line}\n{answer}\n{error}");
                counts[1] += 1;
            }
        }
    }
    assert!(counts[0] > 5_000 && counts[1] > 5_000, "{counts:?}");
}

/// Whether two documents are equal, except for the last bit of numbers, which `serde_json` rounds.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 2.0 * f64::EPSILON * a.abs()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, a)| b.get(k).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn the_memory_of_the_json_parser_is_that_of_its_largest_request() {
    let large = format!("[{}1]", "{\"a\":[1,2,\"b\\n\"]},".repeat(1_000));
    let held = |requests: usize| {
        let text = output(&json()[0], &format!("{large}\n").repeat(requests));
        text.split(" of ").nth(1).unwrap().to_owned()
    };
    assert_eq!(held(3), held(100));
}

#[test]
fn the_tree_of_pmr_containers_is_derived_in_memory_that_stays() {
    const FORMULAS: &[(&str, &str)] = &[
        ("7", "0"),
        (" x ", "1"),
        ("y", "0"),
        ("(+ x 1 x)", "2"),
        ("(* x x)", "(+ x x)"),
        ("(* 3 (+ x 1))", "3"),
        ("(* x y (sin x))", "(+ (* y (sin x)) (* x y (cos x)))"),
        ("(cos (* 2 x))", "(* -2 (sin (* 2 x)))"),
        ("(*)", "0"),
        ("", "error: 1: expected a name or a number"),
        ("(+ x", "error: 5: expected ')'"),
        ("x x", "error: 3: expected the end"),
        ("(- x 1)", "error: 3: unknown operation"),
        ("(sin x x)", "error: 9: expected one operand"),
    ];
    let deep = "(+ ".repeat(100) + "x";
    let mut formulas = FORMULAS.to_vec();
    formulas.push((&deep, "error: 301: nested too deep"));
    let (inputs, outputs): (Vec<&str>, Vec<&str>) = formulas.iter().copied().unzip();
    let input = inputs.join("\n") + "\n";
    for compiler in compilers("c++") {
        let program = example(compiler, &[&["-std=c++17"], ASAN].concat(), &["cmake/tree.cpp"]);
        let text = output(&program, &input);
        let answers: Vec<&str> = text.lines().take(outputs.len()).collect();
        assert_eq!(answers, outputs);
        let held = |times| output(&program, &input.repeat(times)).lines().last().map(str::to_owned);
        assert_eq!(held(2), held(100));
    }
}

#[test]
fn rust_and_c_share_a_scope_whoever_has_opened_it() {
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/shared");
    let folder = format!("{EXAMPLES}/shared");
    run(Command::new("make").args(["-C", &folder, &format!("TARGET={target}")]), "");
    for program in ["shared", "shared-c"] {
        let program = format!("{target}/debug/{program}");
        let words = run(Command::new(&program).args(["the tide pulls", "", "the moon, é"]), "");
        assert_eq!(words, "1 moon,\n1 pulls\n2 the\n1 tide\n1 é\n");
        assert_eq!(run(&mut Command::new(&program), ""), "");
        // More than the first chunk holds.
        let many: String = (0..5_000).map(|n| format!("{n:05} {n:05} ")).collect();
        let lines = run(Command::new(&program).arg(&many), "");
        assert!(lines.lines().enumerate().all(|(n, line)| line == format!("2 {n:05}")));
        assert_eq!(lines.lines().count(), 5_000);
    }
}

/// The same as for the Rust programs, in `nostd/tests`.
#[test]
fn programs_without_a_runtime_need_libc_only_and_do_as_those_in_rust() {
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/nostd");
    let folder = format!("{EXAMPLES}/nostd");
    run(Command::new("make").args(["-C", &folder, &format!("TARGET={target}")]), "");
    let ends = |program: &str, arguments: &str| {
        let mut command = Command::new(format!("{target}/{program}"));
        let output = command.args(arguments.split_whitespace()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    };
    for program in ["foo", "times_table"] {
        let needed = run(Command::new("readelf").args(["-d", &format!("{target}/{program}")]), "");
        assert_eq!(needed.matches("(NEEDED)").count(), 1, "{needed}");
        assert!(needed.contains("[libc.so."), "{needed}");
    }

    assert_eq!(ends("foo", "5"), (0, "The sum is: 50000\n".to_owned()));
    assert_eq!(ends("foo", "0"), (0, "The sum is: 0\n".to_owned()));
    assert_eq!(ends("foo", "12"), (0, "The sum is: 120000\n".to_owned()));
    let refused = "foo: that many words do not fit in 100 bytes\n";
    for count in ["13", "1000", &usize::MAX.to_string()] {
        assert_eq!(ends("foo", count), (1, refused.to_owned()), "foo {count}");
    }
    for arguments in ["", "five", "-1", "5 5", "99999999999999999999999"] {
        assert_eq!(ends("foo", arguments), (2, "usage: foo COUNT\n".to_owned()), "foo {arguments}");
    }

    let row = |r: usize| (1..=7).map(|c| (r * c).to_string()).collect::<Vec<_>>().join("\t") + "\n";
    assert_eq!(ends("times_table", "12 7"), (0, (1..=12).map(row).collect()));
    for arguments in ["0 0", "0 7", "12 0"] {
        assert_eq!(ends("times_table", arguments), (0, String::new()), "{arguments}");
    }
    let refused = "times_table: that table does not fit in memory\n";
    let most = usize::MAX;
    for arguments in [format!("{most} {most}"), format!("{most} 1"), format!("1 {}", most >> 5)] {
        assert_eq!(ends("times_table", &arguments), (1, refused.to_owned()), "{arguments}");
    }
    for arguments in ["", "12", "12 seven", "12 -7", "1 2 3"] {
        let usage = "usage: times_table ROWS COLUMNS\n";
        assert_eq!(ends("times_table", arguments), (2, usage.to_owned()), "{arguments}");
    }
}

/// The HTTP server, running.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl Server {
    fn start(program: &Program) -> Server {
        let mut command = Command::new(program.path());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("listening on port ").unwrap().parse().unwrap();
        Server { process, output, port }
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::new(stream))
    }

    /// The bytes that its arenas hold.
    fn held(&self) -> usize {
        let (status, body) = self.connect().ask_last("GET /stats HTTP/1.0\r\n\r\n");
        assert_eq!(status, 200);
        let held = body.split(", ").nth(1).unwrap().strip_suffix(" bytes held\n").unwrap();
        held.parse().unwrap()
    }

    /// Stops the server, and returns its last line. It must end without an error.
    fn stop(mut self) -> String {
        run(Command::new("kill").args(["-TERM", &self.process.id().to_string()]), "");
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        let output = self.process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

/// A connection to the server.
struct Client(BufReader<TcpStream>);

impl Client {
    /// Sends a request, and reads the status and the body of the answer.
    fn ask(&mut self, request: &str) -> (u32, String) {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        self.answer()
    }

    /// Sends a request after which the server closes the connection. By then the arena is back in
    /// the pool.
    fn ask_last(mut self, request: &str) -> (u32, String) {
        let answer = self.ask(request);
        assert!(matches!(self.0.read(&mut [0]), Ok(0)), "{request}: {answer:?}");
        answer
    }

    fn answer(&mut self) -> (u32, String) {
        let (mut status, mut length) = (0, 0);
        for line in self.0.by_ref().lines().map_while(Result::ok).take_while(|l| !l.is_empty()) {
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().unwrap();
            } else if let Some(rest) = line.strip_prefix("Content-Length: ") {
                length = rest.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }
}

fn post(text: &str) -> String {
    format!("POST /words HTTP/1.1\r\ncontent-length: {}\r\n\r\n{text}", text.len())
}

const CLIENTS: usize = 8;
const REQUESTS: usize = 50;
const MOST_OF_A_REQUEST: usize = 64 << 10;

/// Several simultaneous connections, with requests of different sizes on each.
fn load(server: &Server) {
    // All connections are open at once, so that each round needs as many arenas.
    let all_connected = Barrier::new(CLIENTS);
    thread::scope(|threads| {
        for _ in 0..CLIENTS {
            threads.spawn(|| {
                let mut client = server.connect();
                assert_eq!(client.ask("GET /greet?you HTTP/1.1\r\n\r\n").1, "Hello, you!\n");
                all_connected.wait();
                for request in 0..REQUESTS {
                    let (tides, moons) = (1 + request * 37 % 2_000, request % 3);
                    let text = "tide ".repeat(tides) + &"moon, ".repeat(moons) + "x1y";
                    let mut expected = format!("{tides} tide\n");
                    if moons > 1 {
                        expected += &format!("{moons} moon\n");
                    }
                    let (status, body) = client.ask(&post(&text));
                    assert!(status == 200 && body.starts_with(&expected), "{status} {body}");
                }
                client.ask_last("GET /greet?you HTTP/1.1\r\nConnection: close\r\n\r\n");
            });
        }
    });
}

fn server(compiler: &str, flags: &[&str]) -> Program {
    let flags = [&["-std=c++17"], flags].concat();
    example(compiler, &flags, &["fetch/server.cpp", "fetch/http.cpp"])
}

#[test]
fn the_memory_of_the_server_stays_as_it_is_under_load() {
    for (compiler, flags) in compilers("c++").zip([ASAN, TSAN]) {
        let server = Server::start(&server(compiler, flags));
        load(&server);
        let held = server.held();
        // Each arena serves one request at a time, of at most 10 kB.
        assert!(0 < held && held <= CLIENTS * MOST_OF_A_REQUEST, "{held}");
        for _ in 0..2 {
            load(&server);
            assert_eq!(server.held(), held);
        }
        let idle = server.connect();
        let requests = 3 * CLIENTS * (REQUESTS + 2) + 3;
        assert_eq!(server.stop(), format!("{requests} requests served\n"));
        drop(idle);
    }
}

#[test]
fn the_server_answers_bad_requests_with_an_error_and_goes_on() {
    let server = Server::start(&server("g++", &["-O2"]));
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(9_000));
    let bad = [
        (400, "nonsense\r\n\r\n"),
        (400, "GET words HTTP/1.1\r\n\r\n"),
        (400, "GET /words\r\n\r\n"),
        (505, "GET /words HTTP/2.0\r\n\r\n"),
        (400, "GET /words HTTP/1.1\r\nheader\r\n\r\n"),
        (400, "POST /words HTTP/1.1\r\nContent-Length: 1x\r\n\r\n"),
        (400, "POST /words HTTP/1.1\r\nContent-Length:\r\n\r\n"),
        (400, "POST /words HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        (413, "POST /words HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"),
        (413, "POST /words HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        (501, "POST /words HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (431, &long),
        (405, "GET /words HTTP/1.1\r\n\r\n"),
    ];
    for (status, request) in bad {
        assert_eq!(server.connect().ask_last(request).0, status, "{request}");
    }

    let mut client = server.connect();
    assert_eq!(client.ask("GET /other HTTP/1.1\r\n\r\n").0, 404);
    // Two requests at once, the second one in two parts.
    let second = post("a b a");
    client.0.get_mut().write_all((post("c") + &second[..30]).as_bytes()).unwrap();
    assert_eq!(client.answer(), (200, "1 c\n".to_owned()));
    assert_eq!(client.ask(&second[30..]), (200, "2 a\n1 b\n".to_owned()));
    // Counting this many different words exceeds the limit of the arena.
    let letter = |digit: u32| char::from(b'a' + (digit % 26) as u8);
    let words =
        (0..200_000).map(|n| [letter(n), letter(n / 26), letter(n / 676), letter(n / 17_576)]);
    let text = words.map(|word| String::from_iter(word) + " ").collect::<String>();
    assert_eq!(client.ask_last(&post(&text)).0, 503);
    let mut client = server.connect();
    assert_eq!(client.ask(&post(&text[..100_000])).0, 200);
    assert_eq!(client.ask_last("GET /greet?x HTTP/1.0\r\n\r\n").1, "Hello, x!\n");
    server.stop();
}
