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
