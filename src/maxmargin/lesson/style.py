"""The style of the lesson, besides that of all pages: formulas, code, exercises, contents."""

STYLE = """
body { font-size: 17px; }
h1 { font-size: 2rem; }
h2 { font-size: 1.5rem; scroll-margin-top: .5rem; }
h3 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
h4 { font-size: 1rem; margin: 0 0 .2rem; }
a { color: #0b5394; }
.number { display: inline-block; min-width: 2.2rem; color: var(--soft); font-weight: 400; }
math { font-family: "Cambria Math", "STIX Two Math", "STIXGeneral", "Latin Modern Math", "DejaVu Math TeX Gyre", math; }
.unbroken { white-space: nowrap; }
.formula { display: flex; flex-wrap: wrap; justify-content: safe center; align-items: baseline; gap: .3rem 1.6rem;
  overflow-x: auto; overflow-y: hidden; padding: .4rem .2rem .6rem; margin: 0 0 .4rem; font-size: 1.08em; }
.formula math { display: block math; width: max-content; max-width: none; margin: 0; }
.lead { margin: .6rem 0 .1rem; color: var(--soft); }
mtd { padding: .15rem .4rem; text-align: left; }
mtext { white-space: nowrap; }
.aligned mtd:first-child { color: var(--soft); }
pre { font-size: .86rem; line-height: 1.45; }
pre .comment { color: #47617a; font-style: italic; } pre .string { color: #7a3e00; } pre .keyword { font-weight: 650; }
pre.wrapped { white-space: pre-wrap; }
pre.output { border-left: .25rem solid var(--line); background: #fff; }
figure img { margin: 0 auto; }
.tape iframe { display: block; width: 100%; height: 46rem; border: 1px solid var(--line); border-radius: 8px; }
figure figcaption { max-width: 46rem; margin-top: .3rem; }
figure th { white-space: normal; }
.wide { overflow-wrap: normal; }
td.text, th.text { text-align: left; white-space: normal; min-width: 15rem; }
#map td, #notation td { white-space: normal; min-width: 6rem; }
#map td, #notation td, #map th, #notation th { text-align: left; }
#map td:nth-child(3) { min-width: 14rem; }
.misprint { border-left: .3rem solid #b45309; background: #fff8ef; padding: .1rem 1rem .3rem; margin: 1.2rem 0; }
.misprint h3 { margin-top: .6rem; }
.exercise { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem .4rem; margin: .7rem 0; }
.exercise details { margin: .2rem 0 .5rem; }
summary { cursor: pointer; color: #0b5394; font-weight: 600; padding: .2rem 0; }
.answer { border-left: .3rem solid var(--good); padding-left: .8rem; }
nav h3 { margin: .9rem 0 .1rem; } nav h3 span { font-weight: 400; color: var(--soft); font-size: .95rem; }
nav ol, nav ul { margin: .1rem 0; padding-left: 2.2rem; columns: 2; column-gap: 2.5rem; }
nav li { margin: .1rem 0; break-inside: avoid; }
@media (max-width: 40rem) {
  body { font-size: 16px; }
  h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; }
  nav ol, nav ul { columns: 1; }
  pre { font-size: .78rem; padding: .6rem .7rem; }
  .exercise { padding: .7rem .7rem .3rem; }
  .formula { justify-content: safe flex-start; padding-left: .6rem; }
  #map thead { display: none; }
  #map tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  #map td { display: block; padding: 0; border: 0; min-width: 0; overflow-wrap: anywhere; }
  #map td:first-child { color: var(--soft); } #map td:first-child::before { content: "source "; }
}
@media print { details { display: block; } nav, .formula, pre { break-inside: avoid; } }
"""
