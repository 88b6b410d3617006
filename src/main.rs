//! The program `dp-audit`; all of it is in the library.

fn main() -> std::process::ExitCode {
    dp_audit::fronts::main()
}
