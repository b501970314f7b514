//! The output and the exit codes of the executables.

use std::process::Command;

const FOO: &str = env!("CARGO_BIN_EXE_foo");
const TIMES_TABLE: &str = env!("CARGO_BIN_EXE_times_table");

/// Exit code, standard output and standard error.
fn run(program: &str, arguments: &str) -> (Option<i32>, String, String) {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output()
        .expect("the executable starts");
    let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn printed(text: &str) -> (Option<i32>, String, String) {
    (Some(0), text.to_owned(), String::new())
}

fn refused(code: i32, message: &str) -> (Option<i32>, String, String) {
    (Some(code), String::new(), format!("{message}\n"))
}

#[test]
fn e09_foo_5_prints_the_sum_of_ten_thousand_scopes() {
    assert_eq!(run(FOO, "5"), printed("The sum is: 50000\n"));
}

#[test]
fn foo_of_nothing_is_zero() {
    assert_eq!(run(FOO, "0"), printed("The sum is: 0\n"));
}

#[test]
fn foo_rejects_counts_that_do_not_fit_in_its_buffer() {
    let message = "foo: that many words do not fit in 100 bytes";
    for count in ["13", "1000", &usize::MAX.to_string()] {
        assert_eq!(run(FOO, count), refused(1, message), "foo {count}");
    }
}

#[test]
fn foo_prints_its_usage_for_invalid_arguments() {
    for arguments in ["", "five", "-1", "5 5", "99999999999999999999999"] {
        assert_eq!(run(FOO, arguments), refused(2, "usage: foo COUNT"), "foo {arguments}");
    }
}

#[test]
fn e10_times_table_12_7_prints_the_table() {
    let table = "\
        1\t2\t3\t4\t5\t6\t7\n\
        2\t4\t6\t8\t10\t12\t14\n\
        3\t6\t9\t12\t15\t18\t21\n\
        4\t8\t12\t16\t20\t24\t28\n\
        5\t10\t15\t20\t25\t30\t35\n\
        6\t12\t18\t24\t30\t36\t42\n\
        7\t14\t21\t28\t35\t42\t49\n\
        8\t16\t24\t32\t40\t48\t56\n\
        9\t18\t27\t36\t45\t54\t63\n\
        10\t20\t30\t40\t50\t60\t70\n\
        11\t22\t33\t44\t55\t66\t77\n\
        12\t24\t36\t48\t60\t72\t84\n";
    assert_eq!(run(TIMES_TABLE, "12 7"), printed(table));
}

#[test]
fn a_times_table_without_rows_or_columns_is_empty() {
    for arguments in ["0 0", "0 7", "12 0"] {
        assert_eq!(run(TIMES_TABLE, arguments), printed(""), "times_table {arguments}");
    }
}

#[test]
fn times_table_rejects_tables_that_do_not_fit_in_memory() {
    let message = "times_table: that table does not fit in memory";
    let most = usize::MAX;
    // The product overflows; the size in bytes overflows; the sizes are valid, but larger than any
    // memory.
    for arguments in [format!("{most} {most}"), format!("{most} 1"), format!("1 {}", most >> 5)] {
        assert_eq!(run(TIMES_TABLE, &arguments), refused(1, message), "times_table {arguments}");
    }
}

#[test]
fn times_table_prints_its_usage_for_invalid_arguments() {
    for arguments in ["", "12", "12 seven", "12 -7", "1 2 3"] {
        let usage = "usage: times_table ROWS COLUMNS";
        assert_eq!(run(TIMES_TABLE, arguments), refused(2, usage), "times_table {arguments}");
    }
}
