/** The page's one style sheet; nothing in it is fetched. */
export const STYLE = `
:root { color-scheme: light dark;
  --text: #1c2330; --dim: #5a6475; --back: #fff; --soft: #f4f6f9; --line: #dde2ea; --link: #1a56c4;
  --get: #0b6b4f; --post: #1a56c4; --delete: #b3261e; --good: #0b6b4f; --bad: #9a4a00; --worst: #b3261e; }
@media (prefers-color-scheme: dark) { :root {
  --text: #e4e8ef; --dim: #9aa5b6; --back: #12161d; --soft: #1b212b; --line: #2d3542; --link: #8ab4ff;
  --get: #5fd1a8; --post: #8ab4ff; --delete: #ff9d94; --good: #5fd1a8; --bad: #ffb877; --worst: #ff9d94; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; color: var(--text); background: var(--back);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
.layout { display: grid; grid-template-columns: 18rem minmax(0, 52rem); column-gap: 3rem; max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; }
header { grid-column: 2; padding-top: 2rem; }
nav { grid-column: 1; grid-row: 1 / 3; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 2rem 0; font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { margin: .2rem 0; } nav p { margin: 0 0 .25rem; font-weight: 600; }
nav a { color: var(--text); }
main { grid-column: 2; padding: 0 0 6rem; min-width: 0; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; } h2 { margin: 3.5rem 0 0; font-size: 1.5rem; }
h3 { margin: 0 0 .25rem; font-size: 1.0625rem; line-height: 1.5; } h4 { margin: 1.5rem 0 .5rem; font-size: .9375rem; }
h6 { margin: 1rem 0 .25rem; font-size: .875rem; }
article, .any { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); }
article p, .any p { margin: .5rem 0; } .lead { color: var(--dim); font-size: 1.125rem; margin: .25rem 0 1.5rem; }
.summary { font-size: 1.125rem; } .dim, .label, .kind { color: var(--dim); }
.label { font-size: .8125rem; } p.label { margin: .75rem 0 .25rem; }
.method { font: 600 .75rem/1 ui-monospace, Menlo, Consolas, monospace; letter-spacing: .03em; }
.get { color: var(--get); } .post { color: var(--post); } .delete { color: var(--delete); }
pre { margin: .5rem 0; padding: .75rem 1rem; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; line-height: 1.5; }
pre code { overflow-wrap: normal; } .sample { user-select: all; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th { width: 38%; text-align: left; font-weight: 400; overflow-wrap: anywhere; } th, td { padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); vertical-align: top; font-size: .9375rem; }
.kind, .default { font-size: .875rem; } .required { color: var(--bad); font-size: .75rem; margin-left: .35rem; } .default { margin-left: .5rem; }
details.answer { border-top: 1px solid var(--line); } details.answer:last-of-type { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .5rem 0; } summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details.answer[open] { padding-bottom: .75rem; } .status { font: 600 .875rem/1 ui-monospace, Menlo, Consolas, monospace; }
.s2, .s3 { color: var(--good); } .s4 { color: var(--bad); } .s5 { color: var(--worst); }
@media (max-width: 60rem) {
  .layout { display: block; padding: 0 1rem; }
  nav { position: static; max-height: none; padding: 0; } header { padding-top: 1.5rem; } .sample { white-space: pre-wrap; overflow-wrap: anywhere; }
  h1 { font-size: 1.625rem; }
  .fields, .fields tbody, .fields tr, .fields th, .fields td { display: block; width: 100%; }
  .fields tr { border-top: 1px solid var(--line); padding: .5rem 0; } .fields th, .fields td { border: 0; padding: 0; }
}
@media print { nav { display: none; } .layout { display: block; } details::details-content { content-visibility: visible; } }
`;
