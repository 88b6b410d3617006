"""A trace for the eyes: the calls of both sides beside each other, the line at fault marked."""

from __future__ import annotations

import html
import linecache
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Trace

MOST_CALLS = 200
STYLE = """
.dpa-trace { font: 14px/1.45 system-ui, sans-serif; max-width: 70em }
.dpa-trace table { border-collapse: collapse; width: 100% }
.dpa-trace th, .dpa-trace td { text-align: left; padding: .2em .6em; border-bottom: 1px solid #ccc8; vertical-align: top }
.dpa-trace td.n { text-align: right; font-variant-numeric: tabular-nums }
.dpa-trace tr.fault { background: #e5484d22; outline: 2px solid #e5484d }
.dpa-trace code { font-size: 12px }
.dpa-trace .suspect { color: #c62a2f; font-weight: 600 }
.dpa-trace .unclear { color: #946800; font-weight: 600 }
.dpa-trace .bounded { color: #18794e; font-weight: 600 }
"""


def _text(value: Any) -> str:
    return html.escape(str(value))


def _number(value: float | None) -> str:
    return "" if value is None else "∞" if value == math.inf else f"{value:.6g}"


def _source(site: Any) -> str:
    return linecache.getline(site.file, site.line).strip() if site is not None else ""


def page(trace: "Trace", *, alone: bool = True) -> str:
    """The page, or its part for a notebook."""
    fault = trace.at_fault
    rows = []
    for number, call in enumerate(trace.calls[:MOST_CALLS], 1):
        marked = fault is not None and fault in (call.site, call.left, call.right)
        rows.append(
            f"<tr{' class=fault' if marked else ''}><td class=n>{number}</td><td>{_text(call.what)} × {call.elements}</td>"
            f"<td><code>{_text(call.site)}</code><br><code>{_text(_source(call.site))}</code></td>"
            f"<td class=n>{_number(call.input_left)}</td><td class=n>{_number(call.input_right)}</td>"
            f"<td class=n>{_number(call.scale_left)}</td><td class=n>{_number(call.scale_right)}</td>"
            f"<td class=n>{_number(call.loss)}</td><td>{_text(call.problem or '')}</td></tr>"
        )
    more = len(trace.calls) - MOST_CALLS
    if more > 0:
        rows.append(f"<tr><td colspan=9>{more} more calls</td></tr>")
    findings = "".join(
        f"<li><code>{_text(f.site or '')}</code> {_text(f.text)}: {_text(f.left)} | {_text(f.right)}<br><code>{_text(_source(f.site))}</code></li>"
        for f in trace.findings
    )
    sentences = "".join(f"<li>{_text(trace.sentence(found))}</li>" for found in trace.shown_points())
    body = (
        f"<style>{STYLE}</style><div class=dpa-trace><h2>{_text(trace.name)}</h2><p class={trace.verdict}>{_text(trace.headline())}</p>"
        f"<ul>{findings}</ul><ul>{sentences}</ul><p>Assuming: {_text('; '.join(trace.assuming))}.</p>"
        "<table><tr><th></th><th>noise</th><th>line</th><th>input, left</th><th>right</th><th>scale, left</th><th>right</th>"
        f"<th>loss</th><th></th></tr>{''.join(rows)}</table>"
        "<p>A trace refutes nothing and confirms nothing; draws do.</p></div>"
    )
    if not alone:
        return body
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>{_text(trace.name)}</title>{body}</html>"
