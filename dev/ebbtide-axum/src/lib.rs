//! An example: a web server that uses an arena for each request.
//!
//! `POST /words` counts the words of a text and returns the ten most frequent ones. `GET /arenas`
//! returns the statistics of the pool of arenas. Start it with `cargo run -p ebbtide-axum`, then:
//!
//! ```text
//! curl --data-binary @README.md http://127.0.0.1:3000/words
//! ```
//!
//! Each request takes an arena from a [`Pool`] and holds it, with a scope and a builder, across
//! every `.await`. An allocation only moves a pointer. The arena returns to the pool when the
//! future ends, or when it is dropped because the client disconnected.

use axum::{
    Router,
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use ebbtide::{AllocError, Pool, Scope};
use http_body_util::BodyExt;
use std::{fmt::Write, str, sync::Arc};

/// The maximum length of a request's text, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The number of words in an answer.
pub const LISTED: usize = 10;

/// The server's routes, with an arena of `pool` for every request.
pub fn router(pool: Arc<Pool>) -> Router {
    Router::new().route("/words", post(words)).route("/arenas", get(arenas)).with_state(pool)
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The connection failed, or the body is not valid HTTP.
    Broken,
    /// More than [`LONGEST_TEXT`] bytes.
    TooLong,
    /// The text is not UTF-8.
    NotText,
    /// There is no memory.
    NoMemory,
}

impl From<AllocError> for Refusal {
    fn from(_: AllocError) -> Self {
        Refusal::NoMemory
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Refusal::Broken => (StatusCode::BAD_REQUEST, "the body could not be read\n"),
            Refusal::TooLong => (StatusCode::PAYLOAD_TOO_LARGE, "at most 1 MiB of text\n"),
            Refusal::NotText => (StatusCode::UNPROCESSABLE_ENTITY, "not UTF-8\n"),
            Refusal::NoMemory => (StatusCode::SERVICE_UNAVAILABLE, "out of memory\n"),
        };
        (status, text).into_response()
    }
}

/// `POST /words`.
///
/// # Errors
///
/// See [`Refusal`].
pub async fn words(State(pool): State<Arc<Pool>>, body: Body) -> Result<String, Refusal> {
    let mut arena = pool.get();
    let mut s = arena.try_scope().map_err(Refusal::from)?;
    let text = read(&mut s, body).await?;
    Ok(most_frequent(&mut s, text)?.to_owned())
}

/// Collects a body in a string at the low end of the arena, where it can grow in place.
///
/// It takes `&mut Scope`: a future that held `&Scope` across `.await` would not be `Send`.
///
/// # Errors
///
/// See [`Refusal`].
pub async fn read<'a>(s: &mut Scope<'a>, mut body: Body) -> Result<&'a str, Refusal> {
    let mut text = s.grow_vec();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::Broken)?;
        let Some(piece) = frame.data_ref() else { continue };
        if text.len() + piece.len() > LONGEST_TEXT {
            return Err(Refusal::TooLong);
        }
        text.try_extend_from_slice(piece)?;
    }
    str::from_utf8(text.into_slice()).map_err(|_| Refusal::NotText)
}

/// The most frequent words of a text. Each line has the count and the word. Words with equal counts
/// are in alphabetical order.
///
/// # Errors
///
/// [`AllocError`] if there is no memory.
///
/// ```
/// let mut arena = ebbtide::Arena::new();
/// let lines = ebbtide_axum::most_frequent(&mut arena.scope(), "a rose is a rose")?.to_owned();
/// assert_eq!(lines, "2 a\n2 rose\n1 is\n");
/// # Ok::<(), ebbtide::AllocError>(())
/// ```
pub fn most_frequent<'a>(s: &mut Scope<'a>, text: &'a str) -> Result<&'a str, AllocError> {
    let answer = {
        let mut words = s.grow_vec();
        words.try_extend(text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()))?;
        let words = words.into_slice();
        words.sort_unstable();
        let mut counts = s.grow_vec();
        counts.try_extend(words.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])))?;
        let counts = counts.into_slice();
        // Stable sorting would allocate on the heap. Words with equal counts are ordered by the
        // word.
        counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        &*counts
    };
    let mut lines = s.grow_string();
    for (count, word) in answer.iter().take(LISTED) {
        writeln!(lines, "{count} {word}").map_err(|_| AllocError)?;
    }
    Ok(lines.into_str())
}

/// `GET /arenas`: the statistics of the arenas that no request is using.
pub async fn arenas(State(pool): State<Arc<Pool>>) -> String {
    format!("{}\n", pool.stats())
}
