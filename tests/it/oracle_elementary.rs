//! The table of elementary functions that the engine's own tests read, asked of a running Prometheus.

use std::fmt::Write as _;
use std::path::Path;

use tests::ask::Matrix;
use tests::oracle::{Oracle, Track};

/// Time of the first line of every function, milliseconds; the others follow second by second.
const FIRST: i64 = 1_718_494_200_000;
const TABLE: &str = "../services/promql/tests/elementary.txt";

/// One function's lines: the arguments and the result.
struct Section {
    name: String,
    rows: Vec<Vec<f64>>,
}

/// The remarks before the table, and its sections.
fn read(text: &str) -> (String, Vec<Section>) {
    let mut remarks = String::new();
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            remarks = remarks + line + "\n";
        } else if line.len() < 16 {
            sections.push(Section {
                name: line.to_owned(),
                rows: Vec::new(),
            });
        } else {
            let bits = line
                .split(' ')
                .map(|word| u64::from_str_radix(word, 16).unwrap());
            let section = sections.last_mut().expect("a name comes first");
            section.rows.push(bits.map(f64::from_bits).collect());
        }
    }
    (remarks, sections)
}

impl Section {
    /// The arguments as series: what PromQL applies the function to.
    fn tracks(&self) -> Vec<Track> {
        let arguments = self.rows[0].len() - 1;
        let track = |(at, name): (usize, &&str)| {
            let values = self.rows.iter().map(|row| row[at]);
            let mut track = Track::new(name, &[("of", &self.name)]);
            track.samples = (FIRST..).step_by(1000).zip(values).collect();
            track
        };
        let names = ["x", "y"];
        names
            .iter()
            .enumerate()
            .take(arguments)
            .map(track)
            .collect()
    }

    fn query(&self) -> Option<String> {
        let name = &self.name;
        let operator = match name.as_str() {
            "exp2" => return None,
            "pow" => "^",
            "mod" => "%",
            "atan2" => "atan2",
            _ => return Some(format!(r#"{name}(x{{of="{name}"}})"#)),
        };
        Some(format!(r#"x{{of="{name}"}} {operator} y{{of="{name}"}}"#))
    }

    /// The same arguments with the results of Prometheus; as it is where PromQL has no such function.
    async fn asked(&self, oracle: &Oracle) -> Self {
        let mut rows = self.rows.clone();
        if let Some(query) = self.query() {
            let last = FIRST + 1000 * i64::try_from(rows.len() - 1).unwrap();
            let answer: Matrix = oracle.ask().range(&query, FIRST, last, 1000).await;
            let found = answer.values().next().expect("one series");
            assert_eq!((answer.len(), found.len()), (1, rows.len()), "{query}");
            for (row, (_, value)) in rows.iter_mut().zip(found) {
                *row.last_mut().unwrap() = value.parse().unwrap();
            }
        }
        Self {
            name: self.name.clone(),
            rows,
        }
    }

    fn write(&self, into: &mut String) {
        writeln!(into, "{}", self.name).unwrap();
        for row in &self.rows {
            let words = row.iter().map(|value| {
                let value = if value.is_nan() { f64::NAN } else { *value };
                format!("{:016x}", value.to_bits())
            });
            writeln!(into, "{}", words.collect::<Vec<_>>().join(" ")).unwrap();
        }
    }
}

#[tokio::test]
async fn the_table_of_elementary_functions_is_what_prometheus_answers() {
    let Some(oracle) = Oracle::start(&reqwest::Client::new()).await else {
        return;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    let text = std::fs::read_to_string(&path).expect("the table is there");
    let (mut asked, sections) = read(&text);
    let tracks: Vec<Track> = sections.iter().flat_map(Section::tracks).collect();
    oracle.write(&tracks).await;
    for section in &sections {
        section.asked(&oracle).await.write(&mut asked);
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &asked).expect("the table can be written");
        return;
    }
    let different = text.lines().zip(asked.lines()).filter(|(a, b)| a != b);
    let different: Vec<String> = different.map(|(a, b)| format!("{a}, asked: {b}")).collect();
    assert_eq!(different, Vec::<String>::new());
    assert_eq!(text.lines().count(), asked.lines().count());
}
