//! The HTML report as a browser shows it. Needs Chromium (`chromium`, `chromium-browser`,
//! `google-chrome`, or what `CHROMIUM` names); says loudly when there is none.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::program::{
    self, GOOD, between, code, dp_audit, errors, folder, laplace, read, shown, with_draws,
};
use crate::harness::repository;

const AUDITS: [&str; 5] = [
    "basics/laplace-count-short.toml",
    "basics/gaussian-exact.toml",
    "notes/mode-ptr-printed.toml",
    "notes/gap-laplace-l2-scale.toml",
    "benchmark/svt5.toml",
];

/// Runs a few audits and returns the report.
fn report(folder: &Path) -> PathBuf {
    let audits = AUDITS.map(|file| repository("audits").join(file).display().to_string());
    let options = ["run", "-q", "--report-only", "--draws", "100000", "--html", "r.html"];
    let output = dp_audit(folder, &[&options[..], &audits.each_ref().map(String::as_str)].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    folder.join("r.html")
}

fn chromium() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let names = named
        .into_iter()
        .chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    let found = names.into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        eprintln!(
            "\n**** SKIPPED: no Chromium here, the HTML report was NOT looked at. Install chromium or set CHROMIUM. ****\n"
        );
    }
    found
}

/// Starts the browser on a page; returns what it prints and what it logs.
fn browse(
    chromium: &str,
    folder: &Path,
    page: &Path,
    size: &str,
    args: &[&str],
) -> (String, String) {
    let profile = tempfile::tempdir_in(folder).unwrap();
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={size}"))
        .args(args)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    assert_eq!(code(&output), 0, "{}", errors(&output));
    (shown(&output), errors(&output))
}

#[test]
fn the_page_refers_to_nothing_outside_and_escapes_what_it_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(report(folder.path())).unwrap();
    for outside in ["http:", "https:", "//", " src=", "url(", "@import", "<iframe", "<object"] {
        // Sources of mechanisms may quote an address as text; as text it cannot be followed.
        let markup: String = page
            .split('<')
            .map(|part| part.split('>').next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("<");
        assert!(!markup.contains(outside), "«{outside}» in the markup");
    }
    // The only script is the page's own. It asks for nothing, and the policy of the page would not
    // let it.
    assert_eq!(page.matches("<script").count(), 1);
    let script = between(&page, "<script>", "</script>");
    for request in [
        "fetch",
        "XMLHttpRequest",
        "import",
        "WebSocket",
        "sendBeacon",
        "eval",
        "innerHTML",
        "http",
    ] {
        assert!(!script.contains(request), "«{request}» in the script");
    }
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\""));
    let sneaky = GOOD
        .replace("\"good\"", "\"<script>alert(1)</script> & \\\"more\\\"\"")
        .replace("one more", "</details><b onclick='x'>")
        .replace("\"x\"", "\"<i>\"");
    let folder = program::folder(&[("sneaky", &sneaky)]);
    let options = [
        "run",
        "-q",
        "--draws",
        "5000",
        "--allow-inconclusive",
        "--html",
        "s.html",
        "--junit",
        "s.xml",
        "--markdown",
        "s.md",
    ];
    assert_eq!(code(&dp_audit(folder.path(), &options)), 0);
    let page = read(folder.path(), "s.html");
    assert!(
        page.contains("&lt;script&gt;alert(1)")
            && page.matches("<script").count() == 1
            && !page.contains("<b onclick")
            && !page.contains("[<i>")
    );
    let xml = read(folder.path(), "s.xml");
    assert!(xml.contains("&lt;script&gt;") && !xml.contains("<script>"));
}

#[test]
fn a_browser_shows_it_without_errors_requests_or_overflow() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path());
    // The same page with a probe: opens every card, then says what it measures.
    let probe = "<script>addEventListener('load',()=>{document.querySelectorAll('details').forEach(d=>d.open=true);\
                 const root=document.documentElement;\
                 const svgs=[...document.querySelectorAll('svg')].filter(s=>s.getBoundingClientRect().height>20).length;\
                 parent.document.documentElement.dataset.probe=[innerWidth,root.scrollWidth,performance.getEntriesByType('resource').length,svgs].join(' ')})</script>";
    let content = (std::fs::read_to_string(&page).unwrap() + probe)
        .replace('&', "&amp;")
        .replace('"', "&quot;");
    let probed = folder.path().join("probed.html");
    for width in [390, 1280] {
        // Browser windows have a least width; frames have none.
        let frame = format!(
            "<!doctype html><iframe style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{content}\"></iframe>"
        );
        std::fs::write(&probed, frame).unwrap();
        let (dom, log) = browse(&chromium, folder.path(), &probed, "1300,1000", &["--dump-dom"]);
        let probe = dom
            .split("data-probe=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .unwrap_or_else(|| panic!("no probe in {dom:.300}"));
        let measured: Vec<u32> = probe.split(' ').map(|number| number.parse().unwrap()).collect();
        let [inner, scroll, resources, svgs] = measured[..] else { panic!("{probe}") };
        assert_eq!(inner, width, "the page has the width it is tested at");
        assert!(scroll <= inner, "at width {inner} the page is {scroll} wide");
        assert_eq!(resources, 0, "requests");
        assert!(svgs as usize >= 3 * AUDITS.len() - 1, "{svgs} pictures");
        assert!(!log.contains("CONSOLE"), "{log}");
    }
    let blank = folder.path().join("blank.html");
    std::fs::write(&blank, "<!doctype html><title>blank</title>").unwrap();
    let shot = |page: &Path, dark: bool| {
        let file = folder.path().join("shot.png");
        let option = format!("--screenshot={}", file.display());
        let scheme = if dark {
            "--blink-settings=preferredColorScheme=0"
        } else {
            "--blink-settings=preferredColorScheme=1"
        };
        browse(&chromium, folder.path(), page, "1280,900", &[&option, scheme]);
        std::fs::read(file).unwrap()
    };
    let (blank, light, dark) = (shot(&blank, false), shot(&page, false), shot(&page, true));
    // A blank page compresses to next to nothing.
    assert!(
        light.len() > 5 * blank.len() && dark.len() > 5 * blank.len(),
        "{} and {} bytes, blank {}",
        light.len(),
        dark.len(),
        blank.len()
    );
    assert_ne!(light, dark, "dark is another picture");
}

#[test]
fn search_filters_order_links_and_buttons_work() {
    let Some(chromium) = chromium() else { return };
    let audit = |name: &str, factor, expect| with_draws(&laplace(name, factor, expect), 50_000);
    let folder = folder(&[
        ("a", &audit("zebra", 1.0, "consistent").replace("expect", "resolution = 0.3\nexpect")),
        ("b", &audit("apple", 0.5, "violated")),
        ("c", &audit("mango", 0.5, "consistent")),
        ("d", &audit("melon", 0.3, "violated")),
    ]);
    let folder = folder.path();
    std::fs::create_dir(folder.join("audits/fruit")).unwrap();
    std::fs::rename(folder.join("audits/b.toml"), folder.join("audits/fruit/b.toml")).unwrap();
    let output = dp_audit(folder, &["run", "-q", "--html", "r.html"]);
    assert_eq!(code(&output), 2, "{}", errors(&output));
    // Does what a reader would do, and notes after each step which cards are shown.
    let probe = "<script>(() => {
        const shown = () => [...document.querySelectorAll('.card')].filter(c => c.offsetParent).map(c => c.querySelector('.name').textContent.split(' ')[0]).join(',');
        const set = (id, value, event) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event(event)); };
        const steps = [shown()];
        set('search', 'MELON', 'input'); steps.push(shown());
        set('search', 'audits/c.toml violated', 'input'); steps.push(shown());
        set('search', '', 'input'); document.getElementById('show-violated').click(); steps.push(shown());
        const suite = [...document.querySelectorAll('#suite option')].find(o => o.textContent.endsWith('fruit')).value;
        set('suite', suite, 'change'); steps.push(shown());
        set('suite', '', 'change'); set('sort', 'name', 'change'); steps.push(shown());
        document.getElementById('show-all').click(); document.getElementById('expand').click();
        steps.push(String([...document.querySelectorAll('details.card')].every(d => d.open)));
        document.getElementById('expand').click();
        steps.push(String([...document.querySelectorAll('details.card')].some(d => d.open)));
        location.hash = document.querySelector('.consistent.card').id;
        setTimeout(() => { steps.push(String(document.querySelector('.consistent.card').open)); document.documentElement.dataset.steps = steps.join(' | '); }, 50);
    })()</script>";
    let probed = folder.join("probed.html");
    std::fs::write(&probed, read(folder, "r.html") + probe).unwrap();
    let (dom, log) = browse(
        &chromium,
        folder,
        &probed,
        "1300,1000",
        &["--virtual-time-budget=2000", "--dump-dom"],
    );
    let steps = between(&dom, "data-steps=\"", "\"");
    // The surprise, then refuted claims by reach, then the others.
    let expected = "mango,melon,apple,zebra | melon | mango | mango,melon,apple | apple | mango,apple,melon | true | false | true";
    assert_eq!(steps, expected, "{log}");
}
