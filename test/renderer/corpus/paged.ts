/** Paper: sizes, margins, named pages, breaks, what is repeated on each page, links and outlines. */
import { png } from '../../support/tiny-images.ts';
import {
  type Cases,
  type CorpusDocument,
  fromCases,
  page,
  paragraphs,
  TEXT,
  times,
} from './document.ts';

const rows = (count: number, height = ''): string =>
  times(count, (n) => `<tr><td style="${height}">${n}<td>${TEXT.slice(0, 20 + ((n * 31) % 90))}`);

const SIZES = fromCases('page', {
  'size A5': ['@page{size:A5}', paragraphs(6)],
  'size letter landscape': ['@page{size:letter landscape;margin:2cm 4cm}', paragraphs(6)],
  'size in millimetres': ['@page{size:100mm 150mm;margin:5mm}', paragraphs(5)],
  'margins of first, left and right': [
    '@page{margin:2cm} @page:first{margin-top:8cm} @page:left{margin-left:5cm} @page:right{margin-right:5cm}',
    paragraphs(25),
  ],
  'named pages': [
    '@page{margin:2cm} @page wide{size:A4 landscape} .w{page:wide}',
    `<p>one</p><div class=w>${paragraphs(2)}</div><p>three</p>`,
  ],
  'blank pages': ['@page:blank{background:#eee} h1{break-before:right}', '<h1>a</h1><h1>b</h1>'],
  orientation: [
    '@page t{page-orientation:rotate-left} .t{page:t}',
    '<p>a<div class=t>turned</div>',
  ],
  'margin boxes': [
    '@page{margin:3cm;@top-left{content:"Title"}@top-right{content:counter(page)}@bottom-center{content:"page " counter(page) " of " counter(pages);color:red}@left-middle{content:"l"}}',
    paragraphs(20),
  ],
  'running elements, that Chrome lacks': [
    '@page{@top-center{content:element(h)}} header{position:running(h)}',
    `<header>running</header>${paragraphs(3)}`,
  ],
}).map((each): CorpusDocument => ({ ...each, options: { prefer_css_page_size: true } }));

const BREAKS: Cases = {
  'before and after': [
    'h2{break-before:page} .a{page-break-after:always}',
    times(4, (n) => `<h2>${n}</h2><p class=a>${TEXT}`),
  ],
  avoid: [
    'div{break-inside:avoid;border:1px solid;margin:1em;padding:1em}',
    times(9, (n) => `<div>${paragraphs((n % 3) + 1)}</div>`),
  ],
  'orphans and widows': ['p{orphans:4;widows:5;font-size:15pt}', paragraphs(18)],
  'headings stay with their text': [
    'h3{break-after:avoid;margin-top:150px}',
    times(9, (n) => `<h3>${n}</h3><p>${TEXT}`),
  ],
  'nested blocks': [
    'div{border:2px solid;padding:60px 20px;margin:20px}',
    '<div>'.repeat(6) + paragraphs(4) + '</div>'.repeat(6),
  ],
  'box decoration': [
    'div{border:9px solid green;border-radius:30px;-webkit-box-decoration-break:clone;box-decoration-break:clone}',
    `<div>${paragraphs(20)}</div>`,
  ],
  floats: [
    'i{float:left;width:200px;height:700px;border:1px solid} b{float:right;width:90px;height:1200px;background:#ddd}',
    `<i>l</i><b>r</b>${paragraphs(12)}`,
  ],
  'a tall picture': [
    'img{width:300px;height:1500px}',
    `<p>a<img src="${png(10, 50, [9, 99, 9])}"><p>b`,
  ],
  'lines of grid and flex': [
    '.g{display:grid;grid-template-columns:1fr 1fr;gap:20px} .f{display:flex;flex-wrap:wrap} .f p{flex:0 0 45%}',
    `<div class=g>${paragraphs(16)}</div><div class=f>${paragraphs(9)}</div>`,
  ],
  'columns over pages': [
    'div{columns:3;column-gap:2em;column-rule:1px solid} h2{column-span:all}',
    `<div>${paragraphs(20)}<h2>span</h2>${paragraphs(25)}</div>`,
  ],
  'forced in columns': [
    'div{columns:2} p:nth-child(3n){break-after:column}',
    `<div>${paragraphs(9)}</div>`,
  ],
  'absolute over the edge': [
    'div{position:relative;height:900px} p{position:absolute;bottom:-90px;border:1px solid}',
    `<div>a<p>${TEXT}</p></div><div>b</div>`,
  ],
};

const REPEATED: Cases = {
  'table head and foot': [
    'thead{background:#ddd} tfoot{font-style:italic} td{padding:6px}',
    `<table border=1><thead><tr><th>n<th>text<tfoot><tr><td>foot<td>foot<tbody>${rows(90)}</table>`,
  ],
  'table of tall rows': [
    'table{border-collapse:collapse} td{border:1px solid}',
    `<table><thead><tr><th>h<th>h<tbody>${rows(8, 'height:380px;vertical-align:bottom')}</table>`,
  ],
  'rows spanned over a break': [
    'td{border:1px solid;height:70px}',
    `<table>${times(6, (n) => `<tr><td rowspan=4>${n}<td>a<tr><td>b<tr><td>c<tr><td>d`)}</table>`,
  ],
  'nested tables': [
    'table{border:1px solid;width:100%}',
    `<table><tr><td><table><thead><tr><th>inner${rows(50)}</table><td>${TEXT}</table>`,
  ],
  'fixed elements': [
    'header,footer{position:fixed;left:0;right:0;background:#eee} footer{bottom:0} header{top:0} body{margin:2cm 0}',
    `<header>head</header><footer>foot</footer>${paragraphs(25)}`,
  ],
  'a watermark': [
    'b{position:fixed;top:40%;font-size:90px;opacity:.2;transform:rotate(-40deg)}',
    `<b>DRAFT</b>${paragraphs(20)}`,
  ],
  'print and screen rules': [
    '@media print{.s{display:none}} @media screen{.p{display:none}} @media print and (min-width:500px){p{color:green}}',
    '<p class=s>screen<p class=p>print',
  ],
  'colours kept': [
    'p{background:#fc0;color:#fff} .e{print-color-adjust:exact;-webkit-print-color-adjust:exact}',
    '<p>economy<p class=e>exact',
  ],
  'links and their targets': [
    'a::after{content:" (" attr(href) ")"}',
    `<p><a href="https://example.com/">out</a> <a href="#t">in</a> <a href="mailto:a@example.com">mail</a>${paragraphs(12)}<h2 id=t>target</h2>`,
  ],
};

const chapters = times(
  4,
  (n) =>
    `<h1 id=c${n}>Chapter ${n}</h1>${paragraphs(3)}${times(2, (m) => `<h2>Section ${n}.${m}</h2>${paragraphs(2)}`)}<h4>deep</h4>`,
);

export const PAGED: readonly CorpusDocument[] = [
  ...SIZES,
  ...fromCases('break', BREAKS),
  ...fromCases('repeat', REPEATED),
  {
    name: 'outline of a book',
    html: page(
      'Book',
      'h1{break-before:page}',
      `<ol>${times(4, (n) => `<li><a href="#c${n}">Chapter ${n}</a>`)}</ol>${chapters}`,
    ),
    options: { outline: true },
  },
  {
    name: 'outline without tags',
    html: page('Book', '', chapters),
    options: { outline: true, tagged: false },
  },
  {
    name: 'a range of pages',
    html: page('Range', 'p{break-after:page}', paragraphs(9)),
    options: { page_ranges: '2-3,7' },
  },
  {
    name: 'no margins, whole background',
    html: page('Full', 'body{margin:0;background:linear-gradient(#fc0,#f0c)}', paragraphs(9)),
    options: {
      margin_top: '0cm',
      margin_right: '0cm',
      margin_bottom: '0cm',
      margin_left: '0cm',
      print_background: true,
    },
  },
  {
    name: 'header and footer with pictures',
    html: page('Framed', '', paragraphs(16)),
    options: { margin_top: '3cm', margin_bottom: '3cm' },
    frame: {
      header_html: `<style>b{color:teal}</style><div style="font-size:10px;width:100%;padding:0 1cm"><img src="${png(40, 12, [200, 0, 0])}"> <b class=title></b></div>`,
      footer_html:
        '<p style="font:9px serif;margin:auto" lang=de>Seite <span class=pageNumber></span></p>',
    },
  },
];
