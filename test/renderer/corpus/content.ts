/** The content of documents: images, drawings, fonts, forms, formulas, the world's scripts, and broken HTML. */
import { fontUri } from '../../support/tiny-font.ts';
import { AVIF, bmp, gif, JPEG, png, svg, WEBP } from '../../support/tiny-images.ts';
import { type Cases, type CorpusDocument, fromCases, page, TEXT, times } from './document.ts';

const RED = [200, 0, 0] as const;
const GREEN = [0, 140, 0] as const;
const face = (family: string, advance: number, height: number, more = ''): string =>
  `@font-face{font-family:${family};src:url(${fontUri(family, { advance, height })});${more}}`;
const drawing = (content: string): string =>
  `<svg width=300 height=160 viewBox="0 0 300 160">${content}</svg>`;

const IMAGES: Cases = {
  'of every format': [
    'img{width:60px;height:40px;margin:4px}',
    [
      png(24, 16, RED),
      JPEG,
      WEBP,
      AVIF,
      bmp(GREEN),
      gif([GREEN, GREEN], 900, true),
      svg('<rect width="40" height="40"/>'),
    ]
      .map((source) => `<img src='${source}'>`)
      .join(''),
  ],
  'picture and srcset': [
    '',
    `<picture><source type=image/avif srcset="${AVIF}"><img src="${JPEG}"></picture><picture><source media="(min-width:9000px)" srcset="${png(9, 9, RED)}"><img src="${png(30, 9, GREEN)}"></picture><img srcset="${png(20, 20, RED)} 1x, ${png(40, 40, GREEN)} 2x"><img sizes=50px srcset="${png(50, 9, RED)} 50w, ${png(100, 18, GREEN)} 100w">`,
  ],
  'in CSS': [
    `li{list-style-image:url(${png(9, 9, RED)})} p::before{content:url(${WEBP})} div{border:12px solid;border-image:url(${png(30, 30, GREEN)}) 10 round} b{background:image-set("${JPEG}" 1x);display:block;height:30px}`,
    '<ul><li>a<li>b</ul><p>p<div>d</div><b></b>',
  ],
  'missing ones': [
    'img{border:1px solid}',
    '<img alt="no picture" width=120 height=40 src="data:image/png;base64,xxxx"><img alt="" src="data:,"><img alt="without a source">',
  ],
  'a dozen large ones': [
    'img{width:150px}',
    times(12, (n) => `<img src="${png(200, 150, [n * 20, 99, 255 - n * 20])}">`),
  ],
  'lazy ones': [
    'p{height:900px}',
    `<p>a<img loading=lazy src="${JPEG}" width=90 height=60><p>b<img loading=lazy src="${png(9, 9, RED)}" width=90 height=60>`,
  ],
  'objects and posters': [
    '',
    `<object data='${svg('<circle cx="20" cy="20" r="15" fill="red"/>')}'></object><embed src='${png(40, 9, GREEN)}'><video poster="${JPEG}" width=90 height=60></video><input type=image src="${JPEG}">`,
  ],
};

const DRAWINGS: Cases = {
  'shapes and strokes': [
    '',
    drawing(
      '<path d="M10 80C40 10 65 10 95 80S150 150 180 80" fill=none stroke=#06c stroke-width=5 stroke-dasharray="9 4"/><polygon points="200,10 250,90 190,60" fill=gold stroke=#000 /><ellipse cx=250 cy=120 rx=40 ry=20 opacity=.5 />',
    ),
  ],
  'gradients and patterns': [
    '',
    drawing(
      '<defs><linearGradient id=a gradientTransform="rotate(30)"><stop stop-color=red /><stop offset=1 stop-color=blue /></linearGradient><radialGradient id=b><stop stop-color=#fff /><stop offset=1 stop-color=green /></radialGradient><pattern id=c width=20 height=20 patternUnits=userSpaceOnUse><circle cx=5 cy=5 r=4 /></pattern></defs><rect width=90 height=90 fill="url(#a)"/><rect x=100 width=90 height=90 fill="url(#b)"/><rect x=200 width=90 height=90 fill="url(#c)"/>',
    ),
  ],
  'clips, masks and filters': [
    '',
    drawing(
      '<clipPath id=c><circle cx=50 cy=50 r=40 /></clipPath><mask id=m><rect width=300 height=60 fill=#fff /><rect width=300 height=30 fill=#888 /></mask><filter id=f><feGaussianBlur stdDeviation=3 /></filter><rect width=90 height=90 clip-path="url(#c)" fill=red /><rect x=100 width=90 height=90 mask="url(#m)"/><rect x=210 y=20 width=60 height=60 filter="url(#f)"/>',
    ),
  ],
  'symbols, markers, text on a path': [
    '',
    drawing(
      '<symbol id=s viewBox="0 0 10 10"><path d="M0 0h10v10z"/></symbol><use href="#s" width=40 height=40 /><use href="#s" x=50 width=20 height=20 fill=red /><marker id=k refX=5 refY=5 markerWidth=9 markerHeight=9 orient=auto><path d="M0 0L10 5L0 10z"/></marker><path id=p d="M10 120Q150 40 290 120" fill=none stroke=#000 marker-end="url(#k)"/><text font-size=16><textPath href="#p">text that follows a path</textPath></text>',
    ),
  ],
  'a bar chart': [
    'text{font:10px sans-serif}',
    drawing(
      times(
        9,
        (n) =>
          `<rect x=${n * 30} y=${150 - n * 13} width=22 height=${n * 13} fill="hsl(${n * 40} 70% 50%)"/><text x=${n * 30} y=${145 - n * 13}>${n * 7}</text>`,
      ),
    ),
  ],
  'HTML within': [
    'p{color:red}',
    drawing(
      '<foreignObject width=200 height=100><p xmlns="http://www.w3.org/1999/xhtml">wrapped <b>HTML</b> in a drawing</p></foreignObject><switch><text y=140 systemLanguage=de>de</text><text y=140>other</text></switch>',
    ),
  ],
};

const FONTS: Cases = {
  'one of its own': [
    `${face('own', 500, 700)} p{font-family:own}`,
    `<p>${TEXT}<p style="font-family:serif">serif`,
  ],
  'another one of the same name': [`${face('own', 300, 200)} p{font-family:own}`, `<p>${TEXT}`],
  'weights and ranges': [
    `${face('own', 400, 400)}${face('own', 600, 800, 'font-weight:bold')}${face('part', 900, 100, 'unicode-range:U+61-6d')} p{font-family:own} i{font-family:part,serif}`,
    '<p>normal <b>bold</b><p><i>abcdefghijklmnopqrstuvwxyz</i>',
  ],
  'adjusted metrics': [
    `${face('own', 450, 500, 'size-adjust:140%;ascent-override:150%;descent-override:60%;line-gap-override:20%')} p{font:20px own;border:1px solid}`,
    `<p>${TEXT.slice(0, 50)}`,
  ],
  'broken with a fallback': [
    '@font-face{font-family:own;src:url(data:font/ttf;base64,AAAA),local("Liberation Mono")} p{font-family:own,monospace}',
    `<p>${TEXT}`,
  ],
  'families and features': [
    'p{margin:2px}',
    [
      'serif',
      'sans-serif',
      'monospace',
      'cursive',
      'system-ui',
      'Arial',
      '"Times New Roman"',
      'Courier',
    ]
      .map(
        (f) =>
          `<p style='font-family:${f};font-variant:small-caps oldstyle-nums'>${f} 0123 fi <i>italic</i> <b>bold</b>`,
      )
      .join(''),
  ],
};

const FORMS: Cases = {
  'of every kind': [
    'fieldset{margin:9px}',
    `<form><fieldset><legend>Fields</legend>${['text', 'password', 'number', 'date', 'time', 'range', 'color', 'checkbox', 'radio', 'file', 'search', 'submit'].map((t) => `<label>${t}<input type=${t} ${t === 'file' ? '' : `value="${t === 'color' ? '#ff8800' : t === 'date' ? '2026-05-03' : t === 'time' ? '12:30' : '5'}"`}></label><br>`).join('')}</fieldset></form>`,
  ],
  'with choices': [
    'select{margin:9px}',
    '<select><option>a<option selected>b</select><select multiple size=4><optgroup label=g><option selected>c<option>d</optgroup></select><textarea rows=4>text\nlines</textarea><input list=l value=x><datalist id=l><option>x</datalist>',
  ],
  'with their states': [
    ':checked{outline:2px solid red} :disabled{opacity:.5} :invalid{background:#fdd} :placeholder-shown{border-style:dashed} input{accent-color:green;appearance:auto}',
    '<input type=checkbox checked><input type=radio checked><input disabled value=off><input required><input placeholder=hint><input readonly value=read><progress value=.4></progress><meter value=.8 high=.7 max=1></meter>',
  ],
  'details and dialogs': [
    'summary{color:teal} dialog{border:3px solid}',
    '<details><summary>closed</summary>hidden</details><details open><summary>open</summary>shown</details><dialog open>dialog</dialog><div popover>popover</div><p hidden>hidden<p hidden=until-found>found',
  ],
};

const FORMULAS: Cases = {
  'fractions and roots': [
    'math{font-size:20px}',
    '<math display=block><mi>x</mi><mo>=</mo><mfrac><mrow><mo>-</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup><mo>-</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac></math>',
  ],
  'sums and matrices': [
    '',
    '<math display=block><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi></munderover><msub><mi>a</mi><mi>i</mi></msub><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mi>α</mi></mtd><mtd><mroot><mn>8</mn><mn>3</mn></mroot></mtd></mtr></mtable><mo>)</mo></math>',
  ],
};

const SCRIPTS = Object.entries({
  ar: ['rtl', 'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.'],
  he: ['rtl', 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.'],
  fa: ['rtl', 'تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت با هم برابرند.'],
  hi: ['ltr', 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।'],
  bn: ['ltr', 'সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।'],
  ta: ['ltr', 'மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.'],
  th: ['ltr', 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ'],
  ka: ['ltr', 'ყველა ადამიანი იბადება თავისუფალი და თანასწორი.'],
  hy: ['ltr', 'Բոլոր մարդիկ ծնվում են ազատ ու հավասար։'],
  am: ['ltr', 'የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።'],
  ja: ['ltr', 'すべての人間は、生まれながらにして自由であり、直骨角。'],
  ko: ['ltr', '모든 인간은 태어날 때부터 자유로우며 直骨角.'],
  'zh-Hans': ['ltr', '人人生而自由，在尊严和权利上一律平等。直骨角'],
  'zh-Hant': ['ltr', '人人生而自由，在尊嚴和權利上一律平等。直骨角'],
  vi: ['ltr', 'Tất cả mọi người sinh ra đều được tự do và bình đẳng.'],
  uk: ['ltr', 'Всі люди народжуються вільними і рівними у своїй гідності.'],
}).map(
  ([lang, [direction, text]]): CorpusDocument => ({
    name: `text in ${lang}`,
    html: page(
      lang,
      'p{border:1px solid;width:12em;text-align:justify}',
      `<div dir=${direction}><h2>${text}</h2><p>${text}</p><p><b>${text}</b> ABC 123 <i>${text}</i></p></div>`,
      lang,
    ),
  }),
);

const WRITING: Cases = {
  'vertical Japanese with ruby': [
    'div{writing-mode:vertical-rl;height:300px;font-size:18px;line-height:2} rt{color:red}',
    '<div lang=ja><p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>と「括弧」、ABC と <span style="text-combine-upright:all">31</span>日。<p>二段落目。</div>',
  ],
  'directions mixed': [
    'p{border:1px solid}',
    '<p>left <bdo dir=rtl>forced</bdo> <bdi>עברית</bdi> 12<p dir=rtl>עברית English עברית 1-2 (a)<p dir=auto>العربية first<p style="unicode-bidi:plaintext">123 אבג',
  ],
  'emoji and signs': [
    'p{font-size:24px}',
    '<p>😀 👩‍👩‍👧 🇩🇪 ❤️ ✓ ★ ☎︎ ℃ ½ ﬁ<p>e&#x301; ñ Å Z͑ͫ̓ ¼ ① Ⅳ 𝑎 𝔄',
  ],
};

/** HTML as it is, without the doctype and the title that others have. */
const BROKEN = Object.entries({
  'unclosed elements':
    '<title>t</title><p>one<b>bold<p>two<i>italic</b>both</i><div>div<li>item<td>cell',
  'text in tables':
    '<!doctype html><title>t</title><table>before<tr>row<td>cell</td>after<p>p</table><table><td>no row<caption>late',
  'forms in forms':
    '<!doctype html><title>t</title><form><form><input value=a></form><button><button>b</button><select><p>x<option>o',
  'wrong entities':
    '<title>t</title><p>&amp &copy &notit; &#0; &#x80; &#1114112; &unknown; &lt;b&gt &AMP;',
  'attributes twice and odd':
    '<title>t</title><p class=a class=b style="color:red"style="color:blue" ===x "y>odd <a href=https://example.com/?a&b=1>link</a><img src alt=x/>',
  'comments that do not end':
    '<title>t</title><p>a<!-- b --!>c<!-->d<!--- e --><p>f<!-- never ends <p>g',
  'deep nesting': `<title>t</title>${'<div style="padding-left:2px"><font size=2><b>'.repeat(120)}deep`,
  'a frameset':
    '<title>t</title><frameset cols="50%,50%"><frame src="about:blank"><noframes>no frames</noframes></frameset>',
  'plain text at last':
    '<title>t</title><p>a<xmp><b>raw</b></xmp><listing>list</listing><plaintext><b>all the rest</b></html>',
  'head after body':
    '<body bgcolor=yellow><p>a</body></html><head><style>p{color:green}</style><title>t</title></head><body text=red><p>b',
  'names of elements in capitals':
    '<HTML><HEAD><TITLE>T</TITLE></HEAD><BODY><CENTER><FONT COLOR="RED" SIZE="+2">OLD</FONT></CENTER><P ALIGN=RIGHT>R<DIR><LI>D</DIR><TT>TT</TT><STRIKE>S</STRIKE><BIG>B</BIG><SPACER TYPE=BLOCK WIDTH=50>',
  'XHTML as HTML':
    '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><p /><div/><![CDATA[cdata]]><br></br></p></body></html>',
  'drawings and formulas torn':
    '<title>t</title><svg width=90 height=30><rect width=20 height=20><p>out of it</svg><math><mi>x<p>out<table><tr><svg><desc><td>cell',
  'templates and slots':
    '<!doctype html><title>t</title><template><p>not shown</template><div><template shadowrootmode=open><style>slot{color:red}</style>shadow <slot>none</slot></template>slotted</div>',
}).map(([name, html]): CorpusDocument => ({ name: `broken: ${name}`, html }));

export const CONTENT: readonly CorpusDocument[] = [
  ...fromCases('images', IMAGES),
  ...fromCases('drawing', DRAWINGS),
  ...fromCases('fonts', FONTS),
  ...fromCases('form', FORMS),
  ...fromCases('formula', FORMULAS),
  ...fromCases('writing', WRITING),
  ...SCRIPTS,
  ...BROKEN,
];
