/** Parts of pages that open, stick, or are made for printing. */
import {
  BLUE,
  type Expectations,
  FAR,
  RED,
  script,
  style,
  word,
} from '../../support/expectations.ts';

const SECOND = word('', 'SECOND', BLUE);
const count = (text: string, part: string): number => text.split(part).length - 1;

export const PARTS: Expectations = {
  'a button "back to top" that comes with scrolling': {
    paper: 'it is not there',
    html: `<p>Article</p>${FAR}<p>End</p><button id=t hidden>Back to top</button>${script("addEventListener('scroll', () => { t.hidden = scrollY < 300 })")}`,
    has: /End/,
    lacks: /Back to top/,
  },
  'the same by an observer of the top': {
    paper: 'it is not there',
    html: `<p id=p>Article</p>${FAR}<p>End</p><button id=t hidden>Back to top</button>${script('new IntersectionObserver(([top]) => { t.hidden = top.isIntersecting }).observe(p)')}`,
    has: /End/,
    lacks: /Back to top/,
  },
  'a header with `position: sticky`': {
    paper: 'once, at the top',
    html: `<header style="position:sticky;top:0">Header</header><p>Article</p>${FAR}<p>End</p>${script('')}`,
    holds: ({ pages, text }) => {
      const [first, second] = (pages[0]?.items ?? []).toSorted((one, other) => other.y - one.y);
      return count(text, 'Header') === 1 && first?.text === 'Header' && second?.text === 'Article';
    },
  },
  'a header with `position: fixed`': {
    paper: 'on every page',
    html: `<header style="position:fixed;top:0">Header</header>${FAR}<p>End</p>`,
    holds: ({ pages }) => pages.every(({ text }) => count(text, 'Header') === 1),
  },
  'a header that gets small with scrolling': {
    paper: 'it is large',
    html: `<header id=h>Large header</header>${FAR}<p>End</p>${script("addEventListener('scroll', () => { h.textContent = scrollY > 50 ? 'small' : 'Large header' })")}`,
    has: /^Large header/,
  },
  'a header that leaves on scrolling down': {
    paper: 'it is there',
    html: `${style('header { transition: transform .3s } .away { transform: translateY(-100px) }')}<header id=h>${word()}</header>${FAR}<p>End</p>${script("let last = 0; addEventListener('scroll', () => { h.classList.toggle('away', scrollY > last); last = scrollY })")}`,
    shows: [RED],
  },
  'a `<details>` that is closed, and one that is open': {
    paper: 'each as it is',
    html: '<details><summary>One</summary>closed</details><details open><summary>Two</summary>text</details>',
    has: /One[^]*Two[^]*text/,
    lacks: /closed/,
  },
  'a group of `<details>`, one of which is open': {
    paper: 'the open one',
    html: '<details name=g open><summary>One</summary>text</details><details name=g><summary>Two</summary>closed</details>',
    has: /One[^]*text[^]*Two/,
    lacks: /closed/,
  },
  'a `<details>` that `@media print` opens': {
    paper: 'it is open',
    html: `${style('@media print { details::details-content { content-visibility: visible; display: block; block-size: auto } }')}<details><summary>One</summary>text</details>`,
    has: /One[^]*text/,
  },
  'a `<details>` that a listener to `beforeprint` opens': {
    paper: 'it is open',
    html: `<details id=d><summary>One</summary>text</details>${script("addEventListener('beforeprint', () => { d.open = true }); addEventListener('afterprint', () => { d.open = false })")}`,
    has: /One[^]*text/,
  },
  'tabs, the first of which is chosen': {
    paper: 'the first tab',
    html: `<main>first panel</main><main hidden>second panel</main>${script("document.querySelectorAll('main').forEach((each, n) => { each.hidden = n > 0 })")}`,
    has: /first panel/,
    lacks: /second panel/,
  },
  'tabs that `@media print` shows one below the other': {
    paper: 'all tabs',
    html: `${style('.off { display: none } @media print { .off { display: block } }')}<div>first panel</div><div class=off>second panel</div>`,
    has: /first panel[^]*second panel/,
  },
  'an accordion by `max-height`': {
    paper: 'its open part alone',
    html: `${style('div { max-height: 0; overflow: hidden; transition: max-height .3s } .open { max-height: 200px }')}<div id=o>${word()}</div><div>${SECOND}</div>${script("onload = () => o.classList.add('open')")}`,
    shows: [RED],
    hides: [BLUE],
  },
  'a `<dialog>` that is closed, and a `popover`': {
    paper: 'neither is there',
    html: '<p>Text</p><dialog>dialogue</dialog><div popover>popover</div>',
    has: /^Text$/,
  },
  'a `<dialog>` that a script opens on loading': {
    paper: 'it is there',
    html: `<p>Text</p><dialog id=d>dialogue</dialog>${script('onload = () => d.showModal()')}`,
    has: /dialogue/,
  },
  'a `popover` that a script opens on loading': {
    paper: 'it is there',
    html: `<p>Text</p><div popover id=d>bubble</div>${script('onload = () => d.showPopover()')}`,
    has: /bubble/,
  },
  'a modal window and a menu that nobody has opened': {
    paper: 'neither is there',
    html: `${style('.modal { display: none } ul ul { visibility: hidden } li:hover ul { visibility: visible } nav { position: fixed; left: 0; transform: translateX(-100%) }')}<p>Text</p><div class=modal>${word()}</div><ul><li>Menu<ul><li>${word()}</ul></ul><nav>${word()}</nav>`,
    has: /Text[^]*Menu/,
    hides: [RED],
  },
  'a text of which four lines are shown until a button is pressed': {
    paper: 'the four lines',
    html: `${style('p { width: 200px; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden }')}<p>begin ${'more words '.repeat(40)} ${word()}</p>`,
    has: /begin/,
    hides: [RED],
  },
  'text with `hidden=until-found`': {
    paper: 'it is not there',
    html: '<p>Text</p><p hidden=until-found>found</p>',
    has: /^Text$/,
  },
  'a print button that `@media print` hides': {
    paper: 'it is not there',
    html: `${style('@media print { .no-print { display: none } }')}<button class=no-print onclick="print()">Print</button><p>Text`,
    has: /^Text$/,
  },
  'text for print alone, and text for the screen alone': {
    paper: 'that for print',
    html: `${style('@media screen { .p { display: none } } @media print { .s { display: none } }')}<p class=p>for print</p><p class=s>for the screen</p>`,
    has: /^for print$/,
  },
  'a line that a listener to `beforeprint` adds, and one to `afterprint` removes': {
    paper: 'the line',
    html: `<p id=p>Text</p>${script("addEventListener('beforeprint', () => { p.textContent = 'Printed by Ada' }); addEventListener('afterprint', () => { p.textContent = 'Text' })")}`,
    has: /^Printed by Ada$/,
  },
  'fields of a form that a script fills in': {
    paper: 'their values',
    html: `<input id=i value=old><textarea id=t></textarea><select id=s><option>A<option>Bravo</select>${script("onload = () => { i.value = 'Ada'; t.value = 'a note'; s.selectedIndex = 1; i.focus() }")}`,
    has: /Ada[^]*a note[^]*Bravo/,
    lacks: /old/,
  },
  'a hint in a field that is empty, with the focus': {
    paper: 'the hint',
    html: '<input placeholder="Your name" autofocus>',
    has: /Your name/,
  },
  'a text in `<noscript>`': {
    paper: 'it is not there',
    html: `<p>Text</p><noscript>Please enable JavaScript</noscript>${script('')}`,
    has: /^Text$/,
  },
  'a text in `<noscript>`, with `"javascript": false`': {
    paper: 'it is there',
    html: '<p>Text</p><noscript>Without scripts</noscript>',
    options: { javascript: false },
    has: /Without scripts/,
  },
  'colours for those who want it dark': {
    paper: 'the light ones',
    html: `${style(`span { color: ${RED} !important } @media (prefers-color-scheme: dark) { span { color: ${BLUE} !important } }`)}${word()}`,
    shows: [RED],
  },
};
