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
