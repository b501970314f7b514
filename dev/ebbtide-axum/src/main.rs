//! Serves on the address in the first argument, or on 127.0.0.1:3000.

use ebbtide::Pool;
use std::{env, io, sync::Arc};
use tokio::net::TcpListener;

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    tokio::runtime::Builder::new_multi_thread().enable_io().build()?.block_on(async {
        let listener = TcpListener::bind(&address).await?;
        println!("http://{}/words", listener.local_addr()?);
        axum::serve(listener, ebbtide_axum::router(Arc::new(Pool::new()))).await
    })
}
