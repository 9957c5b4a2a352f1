/** The look of the page: quiet, one accent for better and one for worse, light or dark as the reader's system asks. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif;
  --serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, "Liberation Serif", serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
  --paper: #fdfcfa; --raised: #f5f3ee; --ink: #1c1b19; --quiet: #66625a; --rule: #dedad2;
  --better: #12608f; --worse: #ad4513; --undecided: #7a756c; --grade: #2f6b3c; --A: #6a4c93; --B: #0b6e6e;
  --faint: #c9c4b8; --alarm: #9a2a2a;
  --series-0: #12608f; --series-1: #c2571a; --series-2: #7d5ba6; --series-3: #b8860b; --series-4: #a33b5c; --series-5: #3f8f8a; --series-6: #6b6b2f; --series-7: #5b6470;
}
@media (prefers-color-scheme: dark) {
  :root:not(.printing) {
    --paper: #161614; --raised: #1f1f1c; --ink: #e9e6df; --quiet: #a19c91; --rule: #393732;
    --better: #7dbbe8; --worse: #f2986c; --undecided: #958f84; --grade: #8cc79a; --A: #c0a5e6; --B: #6fc9c6;
    --faint: #4a473f; --alarm: #f08a8a;
    --series-0: #7dbbe8; --series-1: #f2986c; --series-2: #c0a5e6; --series-3: #e2c25a; --series-4: #ec8fae; --series-5: #6fc9c6; --series-6: #b9bb72; --series-7: #a7b0bc;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 3.8rem; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1360px; padding: 2.5rem 2rem 5rem; background: var(--paper); color: var(--ink); font: 15px/1.5 var(--sans); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1 { font-size: 2.3rem; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.4rem; margin: 0 0 .8rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
h3:first-child { margin-top: 0; }
h4 { font-size: .95rem; margin: 0 0 .2rem; font-weight: 600; }
p { margin: 0 0 .6rem; }
code, pre { font-family: var(--mono); font-size: .92em; }
.quiet, .legend, .kicker { color: var(--quiet); font-size: .84rem; }
.legend { max-width: 78ch; }
.kicker { margin: 0 0 .2rem; font-family: var(--mono); }
.lead { font-family: var(--serif); font-size: 1.15rem; max-width: 68ch; }
.decision { margin: 1.6rem 0; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; }
.beside > div { min-width: 0; }
.beside h3 { margin-top: 0; }
.remarks { margin: 0 0 1rem; padding-left: 1.1rem; max-width: 78ch; }
main > section { margin-top: 3.2rem; clear: both; }
:focus-visible { outline: 2px solid var(--better); outline-offset: 2px; }
button, select, input { font: inherit; color: inherit; }
button { cursor: pointer; }

.facts { display: grid; grid-template-columns: 1.15fr 1.15fr .8fr; gap: 2rem; border-top: 1px solid var(--ink); padding-top: 1rem; margin-top: 1.4rem; }
.facts h2 { font-size: 1rem; margin-bottom: .4rem; }
.facts dl { margin: 0; font-size: .86rem; }
.facts dl > div { display: grid; grid-template-columns: 10.5em minmax(0, 1fr); gap: .8rem; padding: .16rem 0; border-bottom: 1px solid var(--rule); }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; }
.facts .total { border-bottom: 0; }
.time { display: flex; align-items: center; gap: .6rem; }
.time > :first-child { min-width: 4.2em; text-align: right; }
.bar { display: inline-block; height: 3px; background: var(--quiet); border-radius: 1px; }
.bar.negative { background: var(--worse); }
summary { cursor: pointer; }

.bar-of-page { position: sticky; top: 0; z-index: 3; display: flex; align-items: center; gap: 1.4rem; margin-top: 1.6rem; background: var(--paper); border-bottom: 1px solid var(--rule); }
nav { display: flex; gap: 1.4rem; overflow-x: auto; padding: .55rem 0; font-size: .88rem; flex: 1; min-width: 0; }
nav a { color: var(--quiet); text-decoration: none; white-space: nowrap; }
.filter { margin: 0; flex-wrap: nowrap; white-space: nowrap; }
.filter input { width: 11rem; }
[hidden] { display: none !important; }
a { color: inherit; }
nav a:hover { color: var(--ink); }

.wide { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .88rem; }
th, td { padding: .42rem .7rem; text-align: right; vertical-align: top; white-space: nowrap; border-bottom: 1px solid var(--rule); font-weight: 400; }
thead th { border-bottom: 1px solid var(--ink); font-weight: 600; }
th.arm, .tuned { text-align: left; }
th.arm { position: sticky; left: 0; background: var(--paper); padding-left: .5rem; }
tbody th.arm { font-weight: 600; white-space: normal; min-width: 11rem; max-width: 22rem; }
.description { display: block; font-weight: 400; color: var(--quiet); font-size: .8rem; line-height: 1.35; }
.is-baseline, .is-baseline th.arm { background: var(--raised); }
th button { border: 0; background: none; padding: 0; font-weight: 600; }
th button::after { content: "\\2195"; padding-left: .3em; color: var(--quiet); opacity: .5; font-weight: 400; }
th[aria-sort="ascending"] button::after { content: "\\2191"; opacity: 1; color: inherit; }
th[aria-sort="descending"] button::after { content: "\\2193"; opacity: 1; color: inherit; }
th.metric, td.metric, .plain .word { text-align: left; }
.plain { width: auto; }
.plain th, .plain td { white-space: normal; overflow-wrap: break-word; }
.plain td.word { min-width: 5.5rem; }
.passport-link { display: inline-block; width: 1.25em; text-align: center; border: 1px solid var(--rule); border-radius: 50%; font-size: .72rem; line-height: 1.25em; font-weight: 500; color: var(--quiet); text-decoration: none; }
.wide + .legend { margin-top: .8rem; }
.ladder-frame.long { max-height: 85vh; overflow: auto; }
.long .ladder thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); box-shadow: inset 0 -1px var(--ink); }
.long .ladder thead th.arm { z-index: 2; }
.is-control th.arm { padding-left: 1.8rem; font-weight: 500; }
.is-control .value { font-weight: 400; }
.is-absent .reason { text-align: left; white-space: normal; color: var(--quiet); font-size: .82rem; }
.badge.control-kind { color: var(--quiet); border-color: var(--rule); white-space: normal; }
.badge.unexplained, .badge.failed { color: var(--alarm); white-space: normal; }
.badge.stopped { color: var(--quiet); }
.effects { display: none; font-size: .76rem; color: var(--quiet); padding-left: .35rem; }
.unbroken { white-space: nowrap; }
.effects-legend { display: none; }
.ladder-part:has(.with-effects:checked) .effects { display: block; }
.ladder-part:has(.with-effects:checked) .effects-legend { display: inline; }
th.metric { padding-left: 1.5rem; }
.ladder { --value: 3em; }
.ladder.repeated { --value: 7.4em; }
.cell { display: inline-grid; grid-template-columns: minmax(var(--value), max-content) minmax(7em, max-content) minmax(4.2em, max-content); column-gap: .5em; font-size: .82rem; color: var(--quiet); text-align: left; align-items: baseline; }
.cell > :nth-child(3n + 1) { text-align: right; }
.cell .value { color: var(--ink); font-size: .9rem; font-weight: 600; }
.dense th.metric, .dense td.metric { padding: .42rem .4rem .42rem .8rem; }
.dense .cell { grid-template-columns: minmax(var(--value), max-content) minmax(7em, max-content); }
.dense .cell > :nth-child(3n + 1) { grid-column: 1; text-align: right; }
.dense .cell > :nth-child(3n + 2) { grid-column: 2; }
.dense .cell > :nth-child(3) { grid-column: 1; grid-row: 3; text-align: right; }
.dense .cell > :nth-child(6) { grid-column: 2; grid-row: 3; }
.mark.better { color: var(--better); }
.mark.worse { color: var(--worse); }
.parameter { display: inline-block; margin-right: 1.2em; }
.tuned { white-space: normal; width: 80%; }
.config { margin-top: 1.2rem; }
pre { overflow: auto; max-height: 34rem; padding: 1rem; background: var(--raised); overflow-wrap: normal; }

.controls { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .7rem; font-size: .88rem; }
.control { display: inline-flex; align-items: center; gap: .45rem; max-width: 100%; }
.controls label { color: var(--quiet); white-space: nowrap; }
.legend:empty, .controls:empty { display: none; }
select, input { background: var(--paper); border: 1px solid var(--undecided); border-radius: 3px; padding: .22rem .4rem; max-width: 100%; min-width: 0; }
.figure { min-height: 280px; }

.downloads { float: right; margin: 0 0 .4rem 1rem; color: var(--quiet); font-size: .84rem; }
.downloads button { border: 0; background: none; padding: 0 .2rem; color: inherit; text-decoration: underline; }
.downloads button:hover { color: var(--ink); }
@media (max-width: 700px) { .downloads { float: none; margin-left: 0; text-align: right; } }
.figure[hidden] { min-height: 0; }
.figure[hidden] + .downloads { display: none; }
.folded { margin-top: .6rem; font-size: .88rem; }
.folded + .legend { margin-top: .8rem; }
.folded .wide, .bounded .wide { max-height: 32rem; overflow: auto; margin-top: .5rem; }
.definitions { font-size: .84rem; max-width: 78ch; }
.definitions > div { display: grid; grid-template-columns: 10.5em minmax(0, 1fr); gap: .8rem; padding: .16rem 0; }
.definitions dt { color: var(--quiet); }
.definitions dd { margin: 0; }
.passports { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: 1.6rem 2rem; border-top: 1px solid var(--ink); padding-top: 1rem; }
.passport dl { margin: 0; font-size: .84rem; }
.passport dl > div { display: grid; grid-template-columns: 7.5em minmax(0, 1fr); gap: .8rem; padding: .16rem 0; border-bottom: 1px solid var(--rule); }
.passport dt { color: var(--quiet); }
.passport dd { margin: 0; }
.passport:target h3 { color: var(--better); }

.badge { display: inline-block; padding: 0 .42em; border: 1px solid currentColor; border-radius: 3px; font-size: .74rem; line-height: 1.45; font-weight: 500; white-space: nowrap; }
.badge.baseline, .unjudged, .grade-0 { color: var(--quiet); border-color: var(--rule); }
.grade-3 { background: var(--grade); border-color: var(--grade); color: var(--paper); }
.grade-2, .grade-1 { color: var(--grade); }
.grade-1 { border-style: dashed; }
.letter-A { color: var(--A); }
.letter-B { color: var(--B); }
.badge.query { background: var(--ink); border-color: var(--ink); color: var(--paper); }
`;

/** The look on paper: wide parts are narrower, scrolled parts are whole, and controls are left out. */
export const PRINT_STYLE = `
@page { margin: 12mm; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .bar-of-page, .controls, .downloads, .picker, .more, .passport-link, th button::after, noscript { display: none !important; }
  .facts { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .8rem 1.6rem; }
  .inspector { grid-template-columns: minmax(0, 1fr); }
  .wide, .folded .wide, .bounded .wide, .ladder-frame.long, pre, .thread, .query-text { max-height: none; overflow: visible; }
  pre { white-space: pre-wrap; }
  table { font-size: 7.5pt; }
  th, td, th.metric, td.metric, .dense th.metric, .dense td.metric { padding: .2rem .3rem; white-space: normal; }
  .plain th, .plain td { overflow-wrap: anywhere; }
  .plain td.word { min-width: 0; }
  .unbroken, th button { white-space: normal; text-align: inherit; }
  th.arm, .long .ladder thead th { position: static; }
  tbody th.arm { min-width: 0; max-width: 9rem; padding-left: 0; }
  .is-control th.arm { padding-left: .8rem; }
  .description, .effects { font-size: 6.5pt; }
  .cell { grid-template-columns: max-content max-content; font-size: 7pt; }
  .cell .value { font-size: 7.5pt; }
  .cell > :nth-child(3n + 1) { grid-column: 1; text-align: right; }
  .cell > :nth-child(3n + 2) { grid-column: 2; }
  .cell > :nth-child(3) { grid-column: 1; grid-row: 3; text-align: right; }
  .cell > :nth-child(6) { grid-column: 2; grid-row: 3; }
  .dense .cell { grid-template-columns: max-content; }
  .dense .cell > :nth-child(n) { grid-column: 1; grid-row: auto; text-align: left; }
  .figure { max-width: 100%; }
  tr, .figure, .candidate, .passport { break-inside: avoid; }
  h2, h3, .legend:has(+ .figure) { break-after: avoid; }
}
`;

/** The look of the inspector. */
export const INSPECTOR_STYLE = `
.inspector { display: grid; grid-template-columns: 300px minmax(0, 1fr); gap: 2rem; border-top: 1px solid var(--ink); padding-top: 1rem; }
.picker { min-width: 0; position: sticky; top: 3.2rem; align-self: start; display: flex; flex-direction: column; max-height: calc(100vh - 4rem); }
.picker .controls { display: grid; grid-template-columns: 4.6rem minmax(0, 1fr); gap: .4rem; margin-bottom: .4rem; }
.picker .filters { grid-template-columns: minmax(0, 1fr); }
.picker .filters .control { display: grid; grid-template-columns: 4.6rem minmax(0, 1fr); gap: .4rem; }
#query-list { list-style: none; margin: 0; padding: 0; overflow-y: auto; border-top: 1px solid var(--rule); }
#query-list button { display: grid; grid-template-columns: 4em minmax(0, 1fr); gap: .5rem; width: 100%; padding: .4rem .5rem; border: 0; border-bottom: 1px solid var(--rule); background: none; text-align: left; font-size: .82rem; line-height: 1.4; }
#query-list button:focus-visible { outline-offset: -2px; }
#query-list button:hover { background: var(--raised); }
#query-list [aria-current] { background: var(--raised); box-shadow: inset 3px 0 var(--ink); }
#query-list .line { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.gain { text-align: right; white-space: nowrap; }
.up { color: var(--better); }
.down { color: var(--worse); }
.same { color: var(--quiet); }
.opened { min-width: 0; }
.opened h3 { clear: both; }
.opened .figure { min-height: 0; }
.list-note { clear: both; }
.query-text { font-family: var(--serif); font-size: 1.08rem; max-width: 78ch; white-space: pre-line; max-height: 14em; overflow-y: auto; }
#rankings { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2rem; margin-top: .8rem; }
.candidates { list-style: none; margin: 0; padding: 0; }
.candidate { padding: .6rem 0 .6rem .8rem; border-top: 1px solid var(--rule); border-left: 3px solid transparent; }
.candidate.relevant { border-left-color: var(--grade); }
.candidate.relevant.least { border-left-color: color-mix(in srgb, var(--grade) 35%, transparent); }
.candidate-head { display: flex; align-items: baseline; gap: .55rem; }
.candidate .rank { font-weight: 600; min-width: 1.3em; text-align: right; }
.candidate .score { margin-left: auto; }
.candidate p { margin: .1rem 0; }
.snippet { font-size: .88rem; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
.snippet.open { display: block; white-space: pre-line; }
.more { border: 0; background: none; padding: 0; margin-left: .6em; color: inherit; text-decoration: underline; }
.components { display: grid; grid-template-columns: repeat(auto-fill, minmax(86px, 1fr)); gap: .3rem .8rem; margin: .35rem 0 0; font-size: .76rem; line-height: 1.3; }
.components dt { color: var(--quiet); }
.components dd { margin: 0; }
.components .bar { display: block; margin-top: 2px; }
.parts { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0 0 .5rem; padding: 0; font-size: .78rem; }
.swatch { display: inline-block; width: .75em; height: .75em; margin-right: .4em; border-radius: 1px; }
.stack { position: relative; height: 10px; margin: .3rem 0 .25rem; background: var(--raised); }
.stack > * { position: absolute; top: 0; bottom: 0; }
.stack > span { box-shadow: inset -1px 0 var(--paper); }
.stack > i { top: -3px; bottom: -3px; width: 1px; background: var(--ink); }
.thread { list-style: none; margin: .3rem 0 1.4rem; padding: 0; max-height: 32rem; overflow: auto; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
.place { display: flex; align-items: baseline; gap: .5rem; padding: .22rem .3rem .22rem calc(var(--depth) * 1.2rem + .3rem); font-size: .86rem; }
.place > .quiet { white-space: nowrap; }
.place .line { min-width: 0; flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.badge.fate { border-style: dashed; }
.place .badges { display: inline-flex; gap: .3rem; }
.place .badges:empty { display: none; }
.place.ranked, .place.is-query { background: var(--raised); }
.place.is-query .line { font-weight: 600; }
.place.later { color: var(--quiet); font-style: italic; }

@media (max-width: 1000px) {
  .facts { grid-template-columns: minmax(0, 1fr); gap: 1.4rem; }
  .inspector { grid-template-columns: minmax(0, 1fr); }
  .picker { position: static; max-height: 24rem; }
}
@media (max-width: 700px) {
  html { scroll-padding-top: 6.4rem; }
  body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.8rem; }
  .bar-of-page { flex-direction: column; align-items: stretch; gap: 0; padding-bottom: .4rem; }
  .filter input { width: auto; flex: 1; }
  .definitions > div, .passport dl > div, .facts dl > div { grid-template-columns: minmax(0, 8em) minmax(0, 1fr); }
  tbody th.arm { min-width: 8.5rem; max-width: 8.5rem; }
  .description { display: none; }
  #rankings { grid-template-columns: minmax(0, 1fr); }
  .place { flex-wrap: wrap; gap: .1rem .5rem; padding-left: calc(var(--depth) * .55rem + .3rem); }
  .place .line { flex-basis: 100%; }
}
`;
