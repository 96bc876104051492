//! What is wrong in an article, by its record: every cell of every table, and every number in prose.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::recount::{
    Table, all_nanos, cell, figure_and_marks, interval, median, numbers, outliers, p95, shown, tables, time,
    without_strings_of,
};

fn rows(record: &Value) -> &[Value] {
    record["rows"].as_array().unwrap()
}

fn list<'value>(value: &'value Value, key: &str) -> &'value [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn name(record: &Value, row: &Value) -> String {
    let siblings = rows(record)
        .iter()
        .filter(|other| other["server"] == row["server"])
        .count();
    let title = row["title"].as_str().unwrap();
    match row["runtime"].as_str() {
        Some(runtime) if siblings > 1 => format!("{title}, {runtime}"),
        _ => title.to_owned(),
    }
}

fn of_sessions(row: &Value, key: &str) -> Vec<u64> {
    let sessions = list(row, "sessions").iter();
    sessions
        .flat_map(|session| all_nanos(&Value::Array(vec![session[key].clone()])))
        .collect()
}

fn samples(row: &Value) -> Vec<u64> {
    list(row, "probes")
        .first()
        .map_or_else(Vec::new, |probe| all_nanos(&probe["samples_ms"]))
}

fn text(value: &Value) -> String {
    match value.as_str() {
        None => "–".to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(text) => text.to_owned(),
    }
}

/// What is wrong in the article, by the record.
pub(crate) fn complaints(record: &Value, article: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    main_table(record, article, &mut wrong);
    probes_table(record, article, &mut wrong);
    runtimes_table(record, article, &mut wrong);
    repeats_tables(record, article, &mut wrong);
    prose(record, article, &mut wrong);
    wrong
}

fn same(wrong: &mut Vec<String>, place: &str, shown: &str, counted: &str) {
    if shown != counted {
        wrong.push(format!("{place}: the article says {shown}, the record {counted}"));
    }
}

fn only_table(article: &str, heading: &str, wrong: &mut Vec<String>) -> Option<Table> {
    let found = tables(article, heading).into_iter().next();
    if found.is_none() {
        wrong.push(format!("no table below {heading}"));
    }
    found
}

fn main_table(record: &Value, article: &str, wrong: &mut Vec<String>) {
    let Some(table) = only_table(article, "The servers", wrong) else {
        return;
    };
    same(
        wrong,
        "rows",
        &table.rows.len().to_string(),
        &rows(record).len().to_string(),
    );
    let caption = article
        .lines()
        .find(|line| line.starts_with("Times in milliseconds. Median"))
        .unwrap();
    let usual = numbers(caption.split("n = ").nth(1).unwrap())[0].clone();
    for (cells, row) in table.rows.iter().zip(rows(record)) {
        let name = name(record, row);
        let place = |column: &str| format!("main table, {name}, {column}");
        let samples = samples(row);
        let (cold_start, _) = figure_and_marks(&cells[4]);
        let (list, _) = figure_and_marks(&cells[5]);
        let (median_cell, n_marks) = figure_and_marks(&cells[8]);
        let (p95_cell, p95_marks) = figure_and_marks(&cells[9]);
        same(wrong, &place("server"), &cells[0], &name);
        same(
            wrong,
            &place("cold start"),
            &cold_start,
            &cell(median(&of_sessions(row, "cold_start_ms"))),
        );
        same(
            wrong,
            &place("list"),
            &list,
            &cell(median(&of_sessions(row, "list_ms"))),
        );
        let count = row["tools"]["count"]
            .as_u64()
            .map_or("–".to_owned(), |count| count.to_string());
        same(wrong, &place("tools"), &cells[6], &count);
        same(wrong, &place("median"), &median_cell, &cell(median(&samples)));
        same(wrong, &place("p95"), &p95_cell, &cell(p95(&samples)));
        let dagger = if (1..20).contains(&samples.len()) { "†" } else { "" };
        same(wrong, &place("dagger"), &p95_marks, dagger);
        let identity = &row["identity"];
        let version = text(&identity["package"]["installed"]);
        if !cells[2].contains(&version) || !cells[1].contains(&text(&identity["reported"]["version"])) {
            wrong.push(place("versions"));
        }
        let n = match n_marks.as_str() {
            "" => usual.clone(),
            mark => numbers(article.lines().find(|line| line.starts_with(mark)).unwrap())[1].clone(),
        };
        if !samples.is_empty() {
            same(wrong, &place("n"), &n, &samples.len().to_string());
        }
    }
}

fn probes_table(record: &Value, article: &str, wrong: &mut Vec<String>) {
    let Some(table) = only_table(article, "The probes", wrong) else {
        return;
    };
    let expected = rows(record).iter().flat_map(|row| {
        let called = list(row, "probes").iter().filter(|probe| !probe["outcome"].is_null());
        called.map(|probe| {
            let samples = all_nanos(&probe["samples_ms"]);
            let range = interval(&samples).map_or("–".to_owned(), |(low, high)| {
                format!("{} to {}", cell(Some(low)), cell(Some(high)))
            });
            vec![
                name(record, row),
                text(&probe["name"]),
                text(&probe["outcome"]),
                probe["calls"].to_string(),
                probe["failures"].to_string(),
                time(&probe["first_ms"]),
                cell(median(&samples)),
                range,
                cell(p95(&samples)),
                cell(samples.iter().min().copied()),
                cell(samples.iter().max().copied()),
                outliers(&samples).to_string(),
            ]
        })
    });
    compare(wrong, "probes", &table, &expected.collect::<Vec<_>>());
}

fn compare(wrong: &mut Vec<String>, what: &str, table: &Table, expected: &[Vec<String>]) {
    same(
        wrong,
        &format!("{what}: rows"),
        &table.rows.len().to_string(),
        &expected.len().to_string(),
    );
    for (cells, counted) in table.rows.iter().zip(expected) {
        for ((cell, counted), column) in cells.iter().zip(counted).zip(&table.header) {
            same(
                wrong,
                &format!("{what}, {counted}, {column}"),
                &figure_and_marks(cell).0,
                counted,
            );
        }
    }
}

fn runtimes_table(record: &Value, article: &str, wrong: &mut Vec<String>) {
    let on_several = |row: &&Value| {
        rows(record)
            .iter()
            .filter(|other| other["server"] == row["server"])
            .count()
            > 1
    };
    let expected: Vec<&Value> = rows(record).iter().filter(on_several).collect();
    if expected.is_empty() {
        return;
    }
    let Some(table) = only_table(article, "The same server on several runtimes", wrong) else {
        return;
    };
    same(
        wrong,
        "runtimes: rows",
        &table.rows.len().to_string(),
        &expected.len().to_string(),
    );
    for (cells, row) in table.rows.iter().zip(&expected) {
        let name = name(record, row);
        let mut check = |column: usize, counted: &str| {
            same(
                wrong,
                &format!("runtimes, {name}, {}", table.header[column]),
                &cells[column],
                counted,
            );
        };
        check(2, &text(&row["identity"]["package"]["installed"]));
        check(3, &text(&row["identity"]["reported"]["version"]));
        check(4, &text(&row["identity"]["protocol"]["negotiated"]));
        check(5, &row["tools"]["count"].to_string());
        check(6, &cell(median(&of_sessions(row, "cold_start_ms"))));
        check(7, &cell(median(&samples(row))));
        let last = expected.iter().rfind(|other| other["server"] == row["server"]).unwrap();
        let tools = |row: &Value| -> BTreeSet<String> {
            list(&row["tools"], "names")
                .iter()
                .map(|name| name.as_str().unwrap().to_owned())
                .collect()
        };
        let fewer = tools(last).difference(&tools(row)).count();
        if fewer > 0 && !cells[8].contains(&format!("{fewer} tools fewer: ")) {
            wrong.push(format!(
                "runtimes, {name}: {fewer} tools are missing, and not told: {}",
                cells[8]
            ));
        }
        if fewer == 0 && cells[8].contains("fewer") {
            wrong.push(format!("runtimes, {name}: {}", cells[8]));
        }
    }
}

fn repeats_tables(record: &Value, article: &str, wrong: &mut Vec<String>) {
    let mut shown = tables(article, "Repeats").into_iter();
    let groups: Vec<&str> = rows(record).iter().filter_map(|row| row["group"].as_str()).collect();
    for group in groups.iter().collect::<BTreeSet<_>>() {
        let Some(table) = shown.next() else {
            wrong.push(format!("no table of group {group}"));
            continue;
        };
        let members = rows(record).iter().filter(|row| row["group"] == **group);
        let expected: Vec<Vec<String>> = members.flat_map(session_lines).collect();
        same(
            wrong,
            "repeats: rows",
            &table.rows.len().to_string(),
            &expected.len().to_string(),
        );
        for (cells, counted) in table.rows.iter().zip(&expected) {
            let figures: Vec<String> = cells[2..].iter().map(|cell| figure_and_marks(cell).0).collect();
            same(
                wrong,
                &format!("group {group}, {}", cells[1]),
                &figures.join(" "),
                &counted.join(" "),
            );
        }
    }
}

/// For rows of one probe: cold start, list, probe, first call, median, p95, n.
fn session_lines(row: &Value) -> Vec<Vec<String>> {
    let unknown = |count: usize| (0..count).map(|_| "–".to_owned());
    let mut lines = Vec::new();
    if !row["first_start_ms"].is_null() {
        lines.push([time(&row["first_start_ms"])].into_iter().chain(unknown(6)).collect());
    }
    for session in list(row, "sessions") {
        let mut line = vec![time(&session["cold_start_ms"]), time(&session["list_ms"])];
        match list(session, "probes").first() {
            None => line.extend(unknown(5)),
            Some(probe) => {
                let samples = all_nanos(&probe["samples_ms"]);
                line.extend([
                    text(&probe["name"]),
                    time(&probe["first_ms"]),
                    cell(median(&samples)),
                    cell(p95(&samples)),
                    samples.len().to_string(),
                ]);
            }
        }
        lines.push(line);
    }
    if list(row, "sessions").len() > 1 {
        let samples = samples(row);
        lines.push(vec![
            cell(median(&of_sessions(row, "cold_start_ms"))),
            cell(median(&of_sessions(row, "list_ms"))),
            text(&row["probes"][0]["name"]),
            "–".to_owned(),
            cell(median(&samples)),
            cell(p95(&samples)),
            samples.len().to_string(),
        ]);
    }
    lines
}

/// Every number outside of tables is one that can be counted in the record, or belongs to a rule.
fn prose(record: &Value, article: &str, wrong: &mut Vec<String>) {
    let allowed = countable(record);
    let moment = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC|SHA-256 [0-9a-f]{12}").unwrap();
    for line in article.lines().filter(|line| !line.starts_with('|')) {
        let ours = without_strings_of(record, &shown(line));
        let ours = moment.replace_all(&ours, "");
        let unknown: Vec<String> = numbers(&ours)
            .into_iter()
            .filter(|number| !allowed.contains(number))
            .collect();
        if !unknown.is_empty() {
            wrong.push(format!("{unknown:?} cannot be counted: {line}"));
        }
    }
}

fn countable(record: &Value) -> BTreeSet<String> {
    let mut allowed: BTreeSet<String> = BTreeSet::new();
    let mut add = |number: String| {
        allowed.insert(number);
    };
    // The rules: p95, its n, the interval's, the example of ranks, the z-score, the units of load.
    for number in ["95", "20", "6", "30", "10", "21", "3.5", "0.95", "1", "5", "15", "2"] {
        add(number.to_owned());
    }
    for value in record["totals"].as_object().unwrap().values() {
        add(value.to_string());
    }
    let all_rows = rows(record);
    let probes: Vec<&Value> = all_rows.iter().flat_map(|row| list(row, "probes")).collect();
    let of = |key: &str| probes.iter().map(|probe| probe[key].as_u64().unwrap_or(0)).sum::<u64>();
    for key in ["calls", "failures"] {
        add(of(key).to_string());
    }
    for probe in &probes {
        for key in ["calls", "failures", "planned_calls", "warmup"] {
            add(probe[key].to_string());
        }
    }
    let all_samples: Vec<Vec<u64>> = probes.iter().map(|probe| all_nanos(&probe["samples_ms"])).collect();
    let called = probes.iter().filter(|probe| !probe["outcome"].is_null()).count();
    add(called.to_string());
    add(all_samples.iter().map(Vec::len).sum::<usize>().to_string());
    add(all_samples
        .iter()
        .map(|samples| outliers(samples))
        .sum::<usize>()
        .to_string());
    add(all_samples
        .iter()
        .filter(|samples| outliers(samples) > 0)
        .count()
        .to_string());
    for least in [1, 2, 6, 20] {
        add(all_samples
            .iter()
            .filter(|samples| (1..least).contains(&samples.len()))
            .count()
            .to_string());
        add(all_samples
            .iter()
            .filter(|samples| samples.len() >= least)
            .count()
            .to_string());
    }
    for samples in &all_samples {
        add(samples.len().to_string());
    }
    let several = probes
        .iter()
        .filter(|probe| probe["warmup"].as_u64().unwrap_or(0) == 0 && list(probe, "samples_ms").len() > 1);
    let slowest = several.clone().filter(|probe| probe["first_ms"] == probe["max_ms"]);
    add(slowest.count().to_string());
    add(several.count().to_string());
    let sessions = all_rows.iter().map(|row| list(row, "sessions").len());
    sessions.clone().for_each(|count| add(count.to_string()));
    add(sessions.clone().sum::<usize>().to_string());
    add(sessions.filter(|count| *count == 1).count().to_string());
    for status in ["AsExpected", "Listed"] {
        let passes = all_rows
            .iter()
            .filter(|row| row["status"] == "pass" || row["status"] == "warn");
        let has_probes = passes.filter(|row| list(row, "probes").is_empty() == (status == "Listed"));
        add(has_probes.count().to_string());
    }
    for row in all_rows {
        add(row["tools"]["count"].to_string());
        for other in all_rows.iter().filter(|other| other["server"] == row["server"]) {
            let count = |row: &Value| row["tools"]["count"].as_u64().unwrap_or(0);
            add(count(other).abs_diff(count(row)).to_string());
        }
        if let Some(load) = row["load_average_1m"].as_f64() {
            add(format!("{load:.2}"));
        }
        if let Some(pressure) = row["cpu_pressure_avg10"].as_f64() {
            add(format!("{pressure:.1}"));
        }
        if let Some(install) = row["install_ms"].as_f64() {
            add(format!("{:.2}", install / 1000.0).trim_end_matches('0').to_owned());
        }
    }
    let run = &record["run"];
    add(run["jobs"].to_string());
    add(run["seed"].to_string());
    let moment = |key: &str| run[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let took = moment("finished").duration_since(moment("started")).as_secs_f64();
    for rounded in [
        format!("{took:.1}"),
        format!("{took:.2}"),
        format!("{:.0}", took * 1000.0),
    ] {
        add(rounded.trim_end_matches('0').trim_end_matches('.').to_owned());
        add(rounded);
    }
    for value in list(&record["host"], "load_average") {
        add(format!("{:.2}", value.as_f64().unwrap()));
    }
    add(record["host"]["logical_cpus"].to_string());
    add(format!(
        "{:.1}",
        record["host"]["memory_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 30)
    ));
    let calibration = &record["calibration"];
    add(calibration["samples"].to_string());
    add(time(&calibration["median_ms"]));
    add(time(&calibration["p95_ms"]));
    allowed
}
