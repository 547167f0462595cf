/** Ways of laying out: those of CSS 2.1, flex, grid, columns, and what came later. */
import { JPEG, png } from '../../support/tiny-images.ts';
import { type Cases, type CorpusDocument, fromCases, TEXT, times } from './document.ts';

const boxes = (count: number): string => times(count, (n) => `<div class="b b${n}">${n}</div>`);
const BOX = '.b{border:2px solid #06c;padding:6px;margin:4px;background:#eef}';

const CSS2: Cases = {
  'margins collapse': [
    'div{margin:40px 0} p{margin:20px 0;background:#ddd}',
    '<div><p>a<p>b</div><div style="margin-top:-10px"><p>c</div>',
  ],
  'floats and clear': [
    '.l{float:left;width:40%} .r{float:right} .c{clear:both}',
    `<p class=l>${TEXT}<p class=r>r<p>${TEXT}<p class=c>clear`,
  ],
  'inline blocks': [
    'span{display:inline-block;width:90px;border:1px solid;vertical-align:top}',
    times(12, (n) => `<span style="height:${n * 9}px">${n}</span> `),
  ],
  'absolute and relative': [
    '.o{position:relative;height:200px;border:1px solid} .i{position:absolute;right:10%;bottom:5px}',
    '<div class=o><p class=i>in<p style="position:relative;top:-5px;left:3em">moved</div>',
  ],
  'stacking order': [
    'div{position:absolute;width:99px;height:99px}',
    times(
      5,
      (n) =>
        `<div style="z-index:${5 - n};left:${n * 30}px;top:${n * 20}px;background:rgb(${n * 50},0,99)">${n}</div>`,
    ),
  ],
  overflow: [
    'div{width:120px;height:60px;border:1px solid;margin:9px;white-space:nowrap}',
    `<div style="overflow:hidden">${TEXT}</div><div style="overflow:scroll">${TEXT}</div><div style="overflow:hidden;text-overflow:ellipsis">${TEXT}</div>`,
  ],
  'vertical align': [
    'td{height:60px;border:1px solid}',
    `<table><tr>${['top', 'middle', 'bottom', 'baseline'].map((a) => `<td style="vertical-align:${a}">${a}`).join('')}</table><p>x<sub>sub</sub><sup>sup</sup><span style="vertical-align:9px">up</span>`,
  ],
  'fixed tables': [
    'table{table-layout:fixed;width:300px} td{border:1px solid;overflow:hidden}',
    '<table><col width=50><col><tr><td>narrow<td>wideunbreakabletextthatistoolong</table>',
  ],
  'collapsed borders': [
    'table{border-collapse:collapse} td{border:1px solid red} .t{border:6px double blue} caption{caption-side:bottom}',
    '<table><caption>caption</caption><tr><td>a<td class=t>b<tr><td>c<td>d</table>',
  ],
  'empty cells and spacing': [
    'table{border-spacing:9px 3px;empty-cells:hide} td{border:1px solid}',
    '<table><tr><td>a<td><td>c<tr><td colspan=2>d<td rowspan=2>e<tr><td>f</table>',
  ],
  'least and most widths': [
    'p{min-width:200px;max-width:300px;width:10%;min-height:3em;border:1px solid}',
    `<p>a<p style="width:90%">${TEXT}`,
  ],
  'heights in percent': [
    'html,body{height:100%;margin:0} div{height:50%;border-bottom:1px solid}',
    '<div>half<div>quarter</div></div>',
  ],
  'white space': [
    'p{border:1px solid;width:120px}',
    ['normal', 'pre', 'nowrap', 'pre-wrap', 'pre-line', 'break-spaces']
      .map((w) => `<p style="white-space:${w}">a  b\n c ${TEXT.slice(0, 40)}`)
      .join(''),
  ],
  'indent and spacing': [
    'p{text-indent:2em hanging;letter-spacing:.1em;word-spacing:.5em;line-height:2}',
    `<p>${TEXT}<p style="text-align:justify;text-align-last:right">${TEXT}`,
  ],
  'list markers': [
    'li{margin-left:2em}',
    [
      'disc',
      'circle',
      'square',
      'decimal-leading-zero',
      'upper-roman',
      'lower-greek',
      'armenian',
      'georgian',
      'hebrew',
      'cjk-decimal',
      '"→ "',
    ]
      .map((s) => `<ol style='list-style:${s} inside'><li>a<li value=12>b</ol>`)
      .join(''),
  ],
  'nested counters': [
    'ol{counter-reset:i;list-style:none} li{counter-increment:i} li::before{content:counters(i,".") " "}',
    '<ol><li>a<ol><li>b<li>c<ol><li>d</ol></ol><li>e</ol>',
  ],
  quotes: [
    'q{quotes:"«" "»" "‹" "›"} q::before{color:red}',
    '<p><q>outer <q>inner</q></q> <q lang=de style="quotes:auto">auto</q>',
  ],
  'generated content': [
    'p::before{content:attr(data-a) "\\2014 ";font-weight:bold} p::after{content:"";display:block;height:3px;background:#000}',
    '<p data-a=one>text<p data-a=two>text',
  ],
  'borders and outlines': [
    'div{margin:12px;padding:4px}',
    ['dotted', 'dashed', 'double', 'groove', 'ridge', 'inset', 'outset']
      .map(
        (s) =>
          `<div style="border:6px ${s} #a40;outline:2px ${s} blue;outline-offset:2px">${s}</div>`,
      )
      .join(''),
  ],
  'first line and letter': [
    'p::first-line{font-variant:small-caps;color:navy} p::first-letter{float:left;font-size:3em;line-height:1}',
    `<p>${TEXT}`,
  ],
  'hidden and clipped': [
    '.v{visibility:hidden} .c{position:absolute;clip:rect(0 40px 20px 0)}',
    '<p>a<span class=v>hidden</span>b<p class=c>clipped text',
  ],
  'backgrounds at places': [
    `div{width:150px;height:90px;border:1px solid;background:#eee url(${png(16, 16, [0, 128, 0])}) no-repeat}`,
    ['right bottom', 'center', '20% 80%', '10px 5px/50px 20px', '0 0/cover']
      .map(
        (p) =>
          `<div style="background-position:${p.split('/')[0]};background-size:${p.split('/')[1] ?? 'auto'}"></div>`,
      )
      .join(''),
  ],
};

const MODERN: Cases = {
  'flex lines': [
    `${BOX}.f{display:flex;flex-wrap:wrap;gap:9px;justify-content:space-between} .b3{flex:2 1 40%;order:-1} .b5{align-self:end;margin-left:auto}`,
    `<div class=f>${boxes(9)}</div>`,
  ],
  'flex column': [
    `${BOX}.f{display:flex;flex-direction:column-reverse;height:400px;align-items:center;justify-content:space-evenly}`,
    `<div class=f>${boxes(5)}</div>`,
  ],
  'flex baseline': [
    `${BOX}.f{display:flex;align-items:last baseline} .b2{font-size:30px} .b4{writing-mode:vertical-lr}`,
    `<div class=f>${boxes(5)}</div>`,
  ],
  'grid areas': [
    `${BOX}.g{display:grid;grid:"h h h" 60px "n m m" 1fr "n f f" auto/1fr 2fr 1fr;height:400px} .b1{grid-area:h} .b2{grid-area:n} .b3{grid-area:m} .b4{grid-area:f}`,
    `<div class=g>${boxes(4)}</div>`,
  ],
  'grid that fills itself': [
    `${BOX}.g{display:grid;grid-template-columns:repeat(auto-fill,minmax(110px,1fr));grid-auto-flow:dense;gap:4px 20px} .b4{grid-column:span 2;grid-row:span 2}`,
    `<div class=g>${boxes(16)}</div>`,
  ],
  'grid in grid': [
    `${BOX}.g{display:grid;grid-template-columns:[a] 1fr [b] 100px [c] auto;} .s{grid-column:1/-1;display:grid;grid-template-columns:subgrid}`,
    `<div class=g>${boxes(3)}<div class=s>${boxes(3)}</div></div>`,
  ],
  columns: [
    'div{columns:4 100px;column-fill:balance-all;column-rule:3px dashed red}',
    `<div>${TEXT.repeat(12)}</div>`,
  ],
  'aspect ratio and fit': [
    'img{width:120px;aspect-ratio:1;border:1px solid;margin:3px}',
    ['fill', 'contain', 'cover', 'none', 'scale-down']
      .map((f) => `<img src="${JPEG}" style="object-fit:${f};object-position:10% 90%">`)
      .join(''),
  ],
  transforms: [
    'div{display:inline-block;width:70px;height:40px;background:#9cf;margin:40px}',
    [
      'rotate(20deg)',
      'skew(10deg,20deg)',
      'scale(1.5,.5)',
      'perspective(200px) rotateY(50deg)',
      'matrix(1,.2,.3,1,9,9)',
    ]
      .map((t) => `<div style="transform:${t}">${t}</div>`)
      .join(''),
  ],
  filters: [
    'div{display:inline-block;width:80px;height:60px;background:linear-gradient(90deg,red,blue);margin:9px}',
    [
      'blur(3px)',
      'grayscale(1)',
      'hue-rotate(90deg)',
      'drop-shadow(3px 3px 2px #000)',
      'sepia(.8) contrast(1.5)',
    ]
      .map((f) => `<div style="filter:${f}">x</div>`)
      .join(''),
  ],
  gradients: [
    'div{height:60px;margin:5px}',
    [
      'linear-gradient(45deg,red 10%,#0000 50%,blue)',
      'radial-gradient(circle at 20% 30%,#fff,#09c)',
      'conic-gradient(from 30deg,red,lime,blue,red)',
      'repeating-linear-gradient(90deg,#ccc 0 9px,#fff 9px 18px)',
      'linear-gradient(in oklch,oklch(70% .2 30),oklch(70% .2 200))',
    ]
      .map((g) => `<div style="background:${g}"></div>`)
      .join(''),
  ],
  'rounded shapes': [
    'div{display:inline-block;width:90px;height:70px;background:#fc9;margin:9px}',
    [
      'border-radius:50%',
      'border-radius:40px 9px/10px 30px;border:5px solid',
      'clip-path:polygon(50% 0,100% 100%,0 60%)',
      'clip-path:circle(30%)',
      'box-shadow:6px 6px 9px #0008,inset 0 0 9px red',
      'mask:radial-gradient(#000 40%,#0000 70%)',
    ]
      .map((s) => `<div style="${s}"></div>`)
      .join(''),
  ],
  'text along shapes': [
    'i{float:left;width:150px;height:150px;shape-outside:circle();border:1px solid;border-radius:50%}',
    `<i></i><p>${TEXT.repeat(4)}`,
  ],
  'writing modes': [
    'div{height:150px;border:1px solid;display:inline-block}',
    ['vertical-rl', 'vertical-lr', 'sideways-rl', 'sideways-lr']
      .map(
        (w) =>
          `<div style="writing-mode:${w}">${TEXT.slice(0, 60)} <b style="text-combine-upright:all">12</b></div>`,
      )
      .join(''),
  ],
  'logical sides': [
    'p{margin-inline:2em 4em;padding-block:1em;border-inline-start:5px solid;inset-inline-start:9px;position:relative}',
    `<p>${TEXT}<p dir=rtl>${TEXT}`,
  ],
  'containers and units': [
    '.c{container-type:inline-size;width:50%} p{font-size:5cqi} @container (width<400px){p{color:red}} b{width:calc(10vw + min(3em,40px));display:inline-block;background:#ddd}',
    '<div class=c><p>container</div><b>b</b>',
  ],
  'selectors of today': [
    'div:has(>b){background:#efe} :is(h2,h3):not(.x){color:green} p{&:nth-child(odd of .y){color:red} .z &{margin:2em}} @layer a{p{color:blue!important}} :where(#n){color:gold}',
    '<div><b>b</b></div><h2>h</h2><h3 class=x>x</h3><p class=y>y<p>n<p class=y>y<p id=n class=y>y',
  ],
  'properties and functions': [
    '@property --w{syntax:"<length>";inherits:true;initial-value:90px} div{width:calc(var(--w)*2);height:round(33px,10px);background:color-mix(in srgb,red 30%,blue);--w:4em;color:rgb(from gold r g b/50%)}',
    '<div>text</div>',
  ],
  'text decorations': [
    'span{margin:9px;display:inline-block}',
    [
      'underline wavy red 2px',
      'line-through double',
      'overline dotted',
      'underline solid .3em #fc08',
    ]
      .map((d) => `<span style="text-decoration:${d};text-underline-offset:3px">jumping</span>`)
      .join('') + '<em style="text-emphasis:filled dot">emphasis</em>',
  ],
  'wrapping of text': [
    'div{width:170px;border:1px solid;margin:4px}',
    [
      'text-wrap:balance',
      'hyphens:auto',
      'overflow-wrap:anywhere',
      'word-break:break-all',
      'line-clamp:2;-webkit-line-clamp:2;display:-webkit-box;-webkit-box-orient:vertical;overflow:hidden',
      'text-wrap:pretty',
    ]
      .map((s) => `<div style="${s}">Unquestionably incomprehensible ${TEXT.slice(0, 50)}</div>`)
      .join(''),
  ],
  'sticky and contents': [
    'h3{position:sticky;top:0;background:#eee} .c{display:contents;color:red}',
    `<div><h3>sticky</h3><p class=c>contents<p style="height:1200px">tall</div>`,
  ],
  'zoom and small fonts': [
    '.z{zoom:1.7} .s{font-size:4px} .h{font-size:120px;line-height:.8}',
    '<p class=z>zoomed<p class=s>tiny text<p class=h>Huge',
  ],
};

export const LAYOUT: readonly CorpusDocument[] = [
  ...fromCases('CSS 2', CSS2),
  ...fromCases('layout', MODERN),
];
