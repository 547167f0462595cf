/** Letters, invoices and mail, as offices send them. */
import { JPEG, png, svg } from '../../support/tiny-images.ts';
import { type CorpusDocument, page, paragraphs, TEXT, times } from './document.ts';

const LOGO = png(120, 40, [20, 60, 160]);

/** The rules of a framework's style sheet that real invoices come with, transitions among them. */
const FRAMEWORK = `*,::after,::before{box-sizing:border-box}:root{--bs-blue:#0d6efd;--bs-border:#dee2e6}
  body{margin:0;font:400 1rem/1.5 system-ui,"Segoe UI",Roboto,"Liberation Sans",sans-serif;color:#212529}
  .container{max-width:960px;margin:auto;padding:0 12px}.row{display:flex;flex-wrap:wrap;margin:0 -12px}
  .row>*{flex:1 0 0;padding:0 12px}.text-end{text-align:right}.btn{display:inline-block;padding:.375rem .75rem;
  border:1px solid var(--bs-blue);border-radius:.375rem;transition:color .15s ease-in-out,background-color .15s}
  .table{width:100%;border-collapse:collapse}.table>:not(caption)>*>*{padding:.5rem;border-bottom:1px solid var(--bs-border)}
  .badge{padding:.35em .65em;font-size:.75em;font-weight:700;color:#fff;background:var(--bs-blue);border-radius:.4rem}
  .card{border:1px solid rgba(0,0,0,.175);border-radius:.4rem;box-shadow:0 .1rem .3rem #0003}
  @media (min-width:768px){.col-md-3{flex:0 0 25%}}@media print{.no-print{display:none!important}a{text-decoration:none}}
  @media (prefers-reduced-motion:reduce){.btn{transition:none}}`;

const letter = (lang: string, [to, subject, greeting, end]: readonly string[]): CorpusDocument => ({
  name: `letter in ${lang}`,
  html: page(
    subject ?? '',
    `body{font:11pt/1.4 "Liberation Serif",serif;margin:2cm} address{font-style:normal;margin-bottom:2em}
    h1{font-size:12pt} .sign{margin-top:3em;border-top:1px solid;width:6cm}`,
    `<address>${to}</address><h1>${subject}</h1><p>${greeting}</p>${paragraphs(6)}<p>${end}</p><p class=sign>A. Muster</p>`,
    lang,
  ),
});

const LETTERS = Object.entries({
  en: ['Ms Doe<br>1 High Street', 'Delivery of May', 'Dear Ms Doe,', 'Yours sincerely'],
  de: ['Frau Müller<br>Große Straße 5', 'Lieferung im März', 'Sehr geehrte Frau Müller,', 'Grüße'],
  fr: ['Mme Lefèvre<br>12, allée des Chênes', 'Livraison de mai', 'Chère Madame,', 'À bientôt'],
  pl: ['Pan Łukasz Żak', 'Dostawa w październiku', 'Szanowny Panie,', 'Z poważaniem'],
  el: ['Κύριο Παπαδόπουλο', 'Παράδοση Μαΐου', 'Αγαπητέ κύριε,', 'Με εκτίμηση'],
  ru: ['г-же Ивановой', 'Поставка в мае', 'Уважаемая госпожа Иванова!', 'С уважением'],
}).map(([lang, words]) => letter(lang, words));

const invoice = (name: string, rows: number, css: string, head: string): CorpusDocument => ({
  name: `invoice: ${name}`,
  html: page(
    `Invoice ${rows}`,
    `${FRAMEWORK}${css}`,
    `<div class=container><div class=row><div>${head}</div><div class=text-end><h1>Invoice</h1>
    <span class=badge>open</span></div></div><table class=table><thead><tr><th>No<th>Item<th class=text-end>Price<tbody>
    ${times(rows, (n) => `<tr><td>${n}<td>${TEXT.slice(0, 9 + ((n * 13) % 70))}<td class=text-end>${(n * 12.34).toFixed(2)} €`)}
    <tfoot><tr><td colspan=2>Total<td class=text-end>${(rows * 99.9).toFixed(2)} €</table>
    <p class=no-print><a class=btn href="https://example.com/pay">Pay</a></div>`,
  ),
});

const INVOICES = [
  invoice('of one page', 8, '', '<p>Example Ltd'),
  invoice('with a logo', 12, '', `<img src="${LOGO}" alt=logo>`),
  invoice(
    'with an SVG logo',
    5,
    '',
    `<img width=90 src='${svg('<circle cx="20" cy="20" r="18"/>')}'>`,
  ),
  invoice('of four pages', 110, 'tr:nth-child(even){background:#f2f2f2}', '<p>Example Ltd'),
  invoice('whose rows hold together', 60, 'tr{break-inside:avoid}td{padding:12px}', '<p>Long'),
  invoice(
    'in cards',
    20,
    '.container{border:1px solid;border-radius:9px}',
    '<div class=card>Card</div>',
  ),
];

/** A mail of nested tables with attributes of old. */
const mail = (name: string, body: string, head = ''): CorpusDocument => ({
  name: `mail: ${name}`,
  html: `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
    <html xmlns="http://www.w3.org/1999/xhtml"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
    <title>${name}</title>${head}</head><body bgcolor="#eeeeee" leftmargin="0" topmargin="0" marginwidth="0">
    <table width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center">
    <table width="600" cellpadding="12" cellspacing="0" border="0" bgcolor="#ffffff">${body}</table></td></tr></table></body></html>`,
});

const MAILS = [
  mail(
    'newsletter',
    `<tr><td background="${JPEG}" height="80" valign="bottom"><font face="Arial" size="5" color="#cc0033">News</font></td></tr>
    <tr><td><table width="100%"><tr>${times(3, (n) => `<td width="33%" valign="top" style="border:1px solid #ccc"><b>${n}</b><br />${TEXT}</td>`)}</tr></table></td></tr>`,
  ),
  mail(
    'order with conditional comments',
    `<!--[if mso]><tr><td>Outlook</td></tr><![endif]--><!--[if !mso]><!--><tr><td>others</td></tr><!--<![endif]-->
    <tr><td><center><a href="https://example.com/" style="background-color:#0066cc;color:#ffffff;display:inline-block;line-height:44px;width:200px;mso-hide:all">Order</a></center></td></tr>`,
  ),
  mail(
    'responsive',
    '<tr><td class="wide">wide</td><td class="narrow">narrow</td></tr>',
    `<style type="text/css">@media only screen and (max-width:480px){.wide{display:none!important}}
    @media print{.narrow{font-weight:bold}} .ExternalClass{width:100%} @media (prefers-color-scheme:dark){td{background:#000}}</style>`,
  ),
  mail(
    'hidden first line',
    `<tr><td><div style="display:none;max-height:0;overflow:hidden;font-size:1px">preview &zwnj;&nbsp;&zwnj;</div>
    <h2 align="center">Hello</h2><hr size="1" width="90%" noshade><ul type="square"><li>one<li value="7">two</ul></td></tr>`,
  ),
  mail(
    'reply with quotations',
    `<tr><td>Thanks!<blockquote style="border-left:2px solid blue;padding-left:8px" type="cite">On Monday:<blockquote type="cite">${TEXT}</blockquote></blockquote>
    <pre wrap="">-- \nJ. Doe\n+1 555</pre></td></tr>`,
  ),
  mail(
    'unitless sizes',
    '<tr><td style="width:200;height:80;color:336699;font-size:20">unitless<dl compact><dt>t<dd>d</dl></td></tr>',
  ),
];

const FORMS: CorpusDocument[] = [
  {
    name: 'certificate with borders and shadows',
    options: { landscape: true, print_background: true },
    html: page(
      'Certificate',
      '@page{margin:0} .c{height:160mm;border:12px double #b8860b;display:grid;place-content:center;text-align:center;text-shadow:1px 1px 2px #888}',
      '<div class=c><h1>Certificate</h1><p>is awarded to<h2>Jane Doe</h2></div>',
    ),
  },
  {
    name: 'ticket with a bar code',
    options: { print_background: true, page_size: 'A5' },
    html: page(
      'Ticket',
      'i{display:inline-block;height:40px;background:#000;margin-right:2px} .t{border:1px dashed;padding:1em}',
      `<div class=t><h2>Row 5, Seat 9</h2>${times(40, (n) => `<i style="width:${1 + ((n * 7) % 4)}px"></i>`)}</div>`,
    ),
  },
  {
    name: 'receipt on a narrow roll',
    options: { prefer_css_page_size: true },
    html: page(
      'Receipt',
      '@page{size:80mm 200mm;margin:4mm} body{font:9pt "Liberation Mono",monospace;margin:0} p{display:flex;margin:0} p i{flex:1;border-bottom:1px dotted}',
      times(20, (n) => `<p>item ${n}<i></i>${n * 3}.00</p>`),
    ),
  },
  {
    name: 'payslip in two columns with dotted leaders',
    html: page(
      'Payslip',
      'dl{columns:2;column-rule:1px solid} dt{float:left;clear:left} dd{text-align:right;border-bottom:1px dotted}',
      `<dl>${times(30, (n) => `<dt>Position ${n}<dd>${n * 17},00`)}</dl>`,
    ),
  },
  {
    name: 'contract with numbered clauses',
    html: page(
      'Contract',
      'body{counter-reset:a} h2{counter-increment:a;counter-reset:b} h2::before{content:counter(a) ". "} p{counter-increment:b;text-align:justify;hyphens:auto} p::before{content:counter(a) "." counter(b,lower-alpha) " "}',
      times(5, (n) => `<h2>Clause ${n}</h2>${paragraphs(4)}`),
    ),
    frame: {
      footer_html:
        '<div style="font-size:9px;width:100%;text-align:center"><span class=pageNumber></span> of <span class=totalPages></span></div>',
    },
  },
];

export const BUSINESS: readonly CorpusDocument[] = [...LETTERS, ...INVOICES, ...MAILS, ...FORMS];
