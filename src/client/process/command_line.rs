//! How a process is named in findings and logs: `pid 123: node server.js`. Reads nothing by itself.

/// Whole arguments are shown up to this many bytes. Never a part of one: a secret that is cut in two
/// would not be recognised when secrets are masked.
const SHOWN_BYTES: usize = 300;

/// The name of a process; `fallback` is used where its command line is empty.
pub(super) fn describe(pid: u32, arguments: &[String], fallback: &str) -> String {
    format!("pid {pid}: {}", shown(arguments, fallback))
}

fn shown(arguments: &[String], fallback: &str) -> String {
    let Some((program, rest)) = arguments.split_first() else {
        return fallback.to_owned();
    };
    let mut line = program.clone();
    for argument in rest {
        if line.len() + argument.len() >= SHOWN_BYTES {
            line.push_str(" …");
            break;
        }
        line.push(' ');
        line.push_str(argument);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_command_lines_are_cut_between_arguments() {
        let arguments = [
            "python3".to_owned(),
            "-c".to_owned(),
            "x".repeat(5000),
            "tail".to_owned(),
        ];
        assert_eq!(describe(7, &arguments, ""), "pid 7: python3 -c …");
        assert_eq!(describe(7, &arguments[..2], ""), "pid 7: python3 -c");
    }

    #[test]
    fn a_process_without_command_line_shows_its_short_name() {
        assert_eq!(describe(7, &[], "(chrome)"), "pid 7: (chrome)");
    }
}
