//! The routes, and the process of a contestant.

use crate::{explicit, shop::Shop};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use ebbtide::Pool;
use ebbtide_global::{ArenaLayer, Options, arena_with, outside, warm};
use std::{
    env,
    io::{self, Read, Write},
    process::ExitCode,
    sync::Arc,
    thread,
};

/// How a request's memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arenas {
    /// With the global allocator only.
    None,
    /// In a transparent scope around the computation of a handler.
    Scope,
    /// In a future with a scope for each poll, through the tower layer.
    Future,
    /// In explicit arenas from a pool.
    Explicit,
}

const OPTIONS: Options = Options::new().label("request");

static POOL: Pool = Pool::new();

struct Server {
    shop: Shop,
    arenas: Arenas,
}

impl Server {
    /// Computes an answer in the contestant's way.
    fn answer(&self, content: &'static str, f: impl FnOnce(&Shop) -> Option<Vec<u8>>) -> Response {
        let body = match self.arenas {
            Arenas::Scope => arena_with(&OPTIONS, || f(&self.shop)),
            Arenas::None | Arenas::Future | Arenas::Explicit => f(&self.shop),
        };
        match body {
            Some(body) => ([(CONTENT_TYPE, content)], body).into_response(),
            None => StatusCode::BAD_REQUEST.into_response(),
        }
    }
}

type Shared = State<Arc<Server>>;

const JSON: &str = "application/json";

async fn order(State(server): Shared, Path(user): Path<u64>, body: Bytes) -> Response {
    server.answer(JSON, |shop| match server.arenas {
        Arenas::Explicit => explicit::order(shop, &POOL.get().scope(), user, &body),
        _ => shop.order(user, &body),
    })
}

async fn page(State(server): Shared, Path(user): Path<u64>) -> Response {
    server.answer("text/html; charset=utf-8", |shop| shop.page(user))
}

async fn search(State(server): Shared, Path(words): Path<String>) -> Response {
    server.answer(JSON, |shop| match server.arenas {
        Arenas::Explicit => explicit::search(shop, &mut POOL.get().scope(), &words),
        _ => shop.search(&words),
    })
}

/// The processor time of this process so far, in microseconds.
async fn usage() -> String {
    // SAFETY: all bytes zero are a valid value: it is a struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a `rusage` of this frame.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    (micros(usage.ru_utime) + micros(usage.ru_stime)).to_string()
}

async fn report() -> String {
    outside(|| ebbtide_global::report().to_string())
}

fn router(server: Server) -> Router {
    let arenas = server.arenas;
    let router = Router::new()
        .route("/orders/{user}", post(order))
        .route("/pages/{user}", get(page))
        .route("/search/{words}", get(search))
        .route("/usage", get(usage))
        .route("/report", get(report))
        .with_state(Arc::new(server));
    if arenas == Arenas::Future { router.layer(ArenaLayer::with(OPTIONS)) } else { router }
}

/// Serves on a free port, which it prints, until its standard input ends.
///
/// Arguments: `none`, `scope`, `future` or `explicit`, and `outside` to change sessions outside of
/// scopes.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (arenas, outside) = match arguments[..] {
        [arenas] => (arenas, false),
        [arenas, "outside"] => (arenas, true),
        _ => return usage_error(),
    };
    let arenas = match arenas {
        "none" => Arenas::None,
        "scope" => Arenas::Scope,
        "future" => Arenas::Future,
        "explicit" => Arenas::Explicit,
        _ => return usage_error(),
    };
    warm();
    match serve(Server { shop: Shop::new(outside), arenas }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage_error() -> ExitCode {
    eprintln!("usage: none|scope|future|explicit [outside]");
    ExitCode::from(2)
}

fn serve(server: Server) -> io::Result<()> {
    // The driver closes standard input when it is done, or has ended.
    thread::spawn(|| {
        let ended = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(i32::from(ended.is_err()));
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build();
    runtime?.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        io::stdout().flush()?;
        axum::serve(listener, router(server)).await
    })
}
