"""The style sheet of all cards: theme colours with fallbacks, and the narrow layout."""

from __future__ import annotations

from typing import Final

PAGE: Final = """
:root{color-scheme:light dark}
body{margin:0;background:Canvas;color:CanvasText;
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:62em;margin:0 auto;padding:1.6em 1.2em 3em;box-sizing:border-box}
h1{font-size:1.6em;margin:0 0 .6em;overflow-wrap:anywhere}
dl{margin:0 0 1.6em}
dl div{display:flex;flex-wrap:wrap;gap:0 1em}
dt{flex:0 0 5em;opacity:.8}
dd{flex:1 1 12em;margin:0;overflow-wrap:anywhere}
section{margin:0 0 2.2em}
@page{size:A4;margin:12mm 14mm 16mm;@bottom-right{content:counter(page) " / " counter(pages);font-size:8pt}}
@media print{:root{color-scheme:light}
body{font-size:8.5pt}
main{padding:0}
h1{margin:0 0 .3em}
dl{margin:0 0 .8em}
section{margin:0 0 .9em}
tr,.so-figure,.so-message{break-inside:avoid}
[role=heading]{break-after:avoid}
tfoot{display:table-row-group}
.smsotp-card{line-height:1.25!important}
.smsotp-card td,.smsotp-card th{padding-top:.1em!important;padding-bottom:.1em!important}
.smsotp-card .so-figure{padding:.3em .6em!important}
.smsotp-card>div{margin-top:.5em!important}}
"""

MOST_FIGURES: Final = 8  # in one row
SHORT: Final = 10  # characters of a figure
# Class of figures and the em of a card that one of them needs: short ones, and those with a longer amount.
_FIGURES: Final = (("so-of", 8.6), ("so-long-of", 13.8))
# Class of a table and the card's width in em under which its rows stack.
_STACK_BELOW: Final = (("so-narrow", 22), ("so-wide", 36), ("so-wider", 50))

# Borders draw the bars, not backgrounds: backgrounds vanish in forced colours and on paper.
_SHEET: Final = """
.smsotp-card{--so-ink:var(--jp-content-font-color1,var(--vscode-foreground,currentColor));
--so-accent:var(--jp-brand-color1,var(--vscode-charts-blue,#1976d2));
--so-soft:color-mix(in srgb,var(--so-ink) 76%,transparent);
--so-line:color-mix(in srgb,var(--so-ink) 20%,transparent);
--so-edge:color-mix(in srgb,var(--so-ink) 55%,transparent);
--so-face:color-mix(in srgb,var(--so-ink) 5%,transparent);
color:var(--so-ink);container-type:inline-size}
.smsotp-card .so-soft{color:var(--so-soft)}
.smsotp-card .so-figures{--so-across:2;display:flex;flex-wrap:wrap;gap:.6em}
.smsotp-card .so-figure{display:block!important;margin:0!important;padding:.7em .8em!important;
flex:1 1 calc((100% + .6em)/var(--so-across) - .6em - 1px);max-width:100%;box-sizing:border-box;
border:1px solid var(--so-line);border-radius:8px;background:var(--so-face)}
.smsotp-card thead th{border-bottom:1px solid var(--so-edge)!important;color:var(--so-soft)}
.smsotp-card tbody tr,.smsotp-card tbody tr:nth-child(odd),.smsotp-card tbody tr:nth-child(even){background:none}
.smsotp-card tbody td{border-bottom:1px solid var(--so-line)!important}
.smsotp-card tfoot td{border-top:1px solid var(--so-edge)!important}
.smsotp-card tfoot tr{background:none}
.smsotp-card tbody tr:hover{background:var(--so-face)}
.smsotp-card .so-bar{border-top-color:var(--so-accent)!important;border-radius:2px}
.smsotp-card .so-point{border-color:var(--so-accent)!important}
.smsotp-card .so-zero{border-color:var(--so-edge)!important}
.smsotp-card .so-hollow{border-color:var(--so-accent)!important;border-radius:2px}
.smsotp-card .so-meter{border-color:var(--so-edge)!important}
.smsotp-card .so-meter .so-bar{border-radius:0}
.smsotp-card .so-code{background:var(--so-face);border-radius:3px;padding:.05em .3em}
.smsotp-card .so-note{border-left-color:var(--so-edge)!important}
.smsotp-card .so-note-cross{border-left-color:var(--jp-error-color1,#d32f2f)!important}
.smsotp-card .so-note-warn{border-left-color:var(--jp-warn-color0,#b26a00)!important}
.smsotp-card .so-note-check{border-left-color:var(--jp-success-color1,#2e7d32)!important}
.smsotp-card .so-message{border-color:var(--so-line)!important;background:var(--so-face)}
.smsotp-card mark,.smsotp-card ins,.smsotp-card del{color:inherit;
background:color-mix(in srgb,var(--so-accent) 22%,transparent)}
.smsotp-card del{background:color-mix(in srgb,var(--jp-error-color1,#d32f2f) 24%,transparent)}
.smsotp-card mark{text-decoration:underline;text-underline-offset:.15em}
.smsotp-card .so-note+.so-note{margin-top:.45em!important}
@container (max-width:22em){.smsotp-card .so-figure{padding:.6em!important}
.smsotp-card .so-figure>div:first-child{font-size:1.2em!important}}
@media (forced-colors:active){
.smsotp-card :is(.so-bar,.so-hollow,.so-point,.so-zero){forced-color-adjust:none;
border-color:CanvasText!important}
.smsotp-card mark,.smsotp-card ins,.smsotp-card del{forced-color-adjust:none;background:Highlight;color:HighlightText}}
"""


_STACKED: Final = """
.smsotp-card .KIND,.smsotp-card .KIND tbody,.smsotp-card .KIND tfoot{display:block}
.smsotp-card .KIND thead{display:none}
.smsotp-card .KIND tr{display:block;padding:.45em 0;border-bottom:1px solid var(--so-line)}
.smsotp-card .KIND td{display:flex;justify-content:space-between;gap:1em;border:0!important;
padding:.12em 0!important;text-align:right!important;white-space:normal!important}
.smsotp-card .KIND td::before{content:attr(data-label);color:var(--so-soft);text-align:left;
font-family:var(--jp-content-font-family,var(--vscode-font-family,system-ui)),sans-serif;font-weight:400}
.smsotp-card .KIND td[data-label=""]{justify-content:flex-start;text-align:left!important}
.smsotp-card .KIND td[data-label=""]::before{display:none}
.smsotp-card .KIND td:empty{display:none}
.smsotp-card .KIND .so-code{white-space:normal!important;overflow-wrap:anywhere}
.smsotp-card .KIND .so-bars{display:block;text-align:left!important}
.smsotp-card .KIND .so-bars::before{display:none}
.smsotp-card .KIND .so-bars div{white-space:normal!important}
.smsotp-card .KIND .so-bars span{display:block}
.smsotp-card .KIND .so-zero{height:14px!important;margin:-7px -1px -7px 0!important}
.smsotp-card .KIND td:first-child{font-weight:600}
"""

# Four to six columns stand as three, two values below each other: a country, and its last column; then the numbers.
_THREE: Final = """@container (max-width:36em){
.smsotp-card .so-three{display:grid;grid-template-columns:minmax(6em,1fr) auto auto;column-gap:.7em}
.smsotp-card .so-three thead,.smsotp-card .so-three tbody,.smsotp-card .so-three tfoot{display:contents}
.smsotp-card .so-three tr{display:grid;grid-column:1/-1;grid-template-columns:subgrid;grid-template-rows:auto auto;
padding:.35em 0;border-bottom:1px solid var(--so-line)}
.smsotp-card .so-three thead tr{border-color:var(--so-edge);align-items:end}
.smsotp-card .so-three th,.smsotp-card .so-three td{display:block;border:0!important;
padding:.05em 0!important;min-width:min-content}
.smsotp-card .so-three :is(th,td):nth-child(6n+1){min-width:0}
.smsotp-card .so-three :is(th,td){white-space:normal!important}
.smsotp-card .so-three .so-track{width:3.5em!important}
.smsotp-card .so-three :is(th,td):nth-child(1){grid-area:1/1}
.smsotp-card .so-three :is(th,td):nth-child(2){grid-area:1/2}
.smsotp-card .so-three :is(th,td):nth-child(3){grid-area:2/2}
.smsotp-card .so-three :is(th,td):nth-child(4){grid-area:1/3}
.smsotp-card .so-three :is(th,td):nth-child(5){grid-area:2/3}
.smsotp-card .so-three :is(th,td):nth-child(6){grid-area:2/1}
.smsotp-card .so-three :is(th,td):nth-child(n+3):not(:nth-child(4)){color:var(--so-soft);font-weight:400!important}
}"""


def style_sheet() -> str:
    """Return the style sheet of all cards; tables of many columns stand as three, or stack, when
    their card is narrow.
    """
    stacks = (f"@container (max-width:{size}em){{{_STACKED.replace('KIND', kind)}}}" for kind, size in _STACK_BELOW)
    rows = "".join(_figures_in_rows(*kind, count) for kind in _FIGURES for count in range(3, MOST_FIGURES + 1))
    three = f"@supports (grid-template-columns:subgrid){{{_THREE}}}"
    return f"{_SHEET}{rows}{''.join(stacks)}{three}"


def _figures_in_rows(kind: str, size: float, count: int) -> str:
    """So many figures stand in one row, in two even ones, or two a row, as there is room: none is left over alone.

    One that is wider than its share, such as a long amount, moves on to the next row.
    """
    return "".join(
        f"@container (min-width:{across * size:g}em){{.smsotp-card .{kind}-{count}{{--so-across:{across}}}}}"
        for across in sorted({-(-count // 2), count} - {2})
    )
