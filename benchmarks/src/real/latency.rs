//! How long single requests to memcached take: four clients, one connection each, nine reads to a write.
//!
//! Not here: throughput, which memaslap measures with many connections.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

const CLIENTS: usize = 4;

/// Of all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Half of them take at most this long.
    pub half: Duration,
    /// 99 of 100 do.
    pub most: Duration,
}

/// Sends so many requests from each client to a server that listens at `address`.
pub fn measure(address: &str, requests: usize) -> Result<Latency> {
    let clients: Vec<Result<Vec<Duration>>> = thread::scope(|scope| {
        let started: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || request(address, client, requests))).collect();
        started.into_iter().map(|client| client.join().unwrap_or_else(|_| anyhow::bail!("a client died"))).collect()
    });
    let mut all = Vec::with_capacity(CLIENTS * requests);
    for client in clients {
        all.extend(client?);
    }
    Ok(of(all))
}

fn request(address: &str, client: usize, requests: usize) -> Result<Vec<Duration>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut replies = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    let mut taken = Vec::with_capacity(requests);
    let mut line = String::new();
    for number in 0..requests {
        let key = (number * 31 + client) % 1000;
        let is_write = number % 10 == 0;
        let text = if is_write { format!("set key{key} 0 0 32\r\n{:032}\r\n", number) } else { format!("get key{key}\r\n") };
        let start = Instant::now();
        stream.write_all(text.as_bytes())?;
        loop {
            line.clear();
            replies.read_line(&mut line).context("memcached does not answer")?;
            ensure!(!line.is_empty() && !line.contains("ERROR"), "memcached answers '{}'", line.trim());
            if line.starts_with("END") || line.starts_with("STORED") {
                break;
            }
        }
        taken.push(start.elapsed());
    }
    Ok(taken)
}

fn of(mut all: Vec<Duration>) -> Latency {
    all.sort_unstable();
    let at = |hundredths: usize| all.get(all.len() * hundredths / 100).copied().unwrap_or_default();
    Latency { half: at(50), most: at(99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_all_requests() {
        let all = (0..200).rev().map(Duration::from_micros).collect();
        assert_eq!(of(all), Latency { half: Duration::from_micros(100), most: Duration::from_micros(198) });
    }
}
