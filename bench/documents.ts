/**
 * Documents as people send them, for the renderer's benchmarks: the same bytes on every run, each document
 * another number. A document is HTML, or the address of a page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataUri, logo, photograph } from './pictures.ts';

const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  );

const prose = (length: number, seed: number): string =>
  Array.from({ length }, (_, index) => WORDS[(index * 7 + seed) % WORDS.length]).join(' ');

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('');

const page = (title: string, style: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head><body>${body}</body></html>`;

/** A file of a package that the set-up for development brings. */
const packaged = (file: string): Buffer =>
  readFileSync(join(import.meta.dirname, '../node_modules', file));

export const isAddress = (document: string): boolean => /^https?:/.test(document);

/** One page of text. */
export function letter(number: number): string {
  const paragraphs = [1, 2, 3, 4].map((each) => `<p>${prose(70, each + number)}.</p>`).join('');
  return page(
    `Letter ${number}`,
    'body{font:11pt/1.5 serif;margin:2cm}address{font-style:normal}',
    `<address>Pressledger Ltd<br>1 Example Street<br>Town</address><p>Dear customer ${number},</p>${paragraphs}<p>Yours faithfully</p>`,
  );
}

const LOGO =
  '<svg width="120" height="60" viewBox="0 0 120 60"><defs><linearGradient id="g"><stop offset="0" stop-color="#36c"/><stop offset="1" stop-color="#6cf"/></linearGradient></defs><rect width="120" height="60" rx="8" fill="url(#g)"/><circle cx="30" cy="30" r="18" fill="#fff"/><path d="M60 40 L75 15 L90 40 Z" fill="#fff"/></svg>';

const INVOICE_STYLE =
  'body{font:10pt/1.4 Helvetica,Arial,sans-serif;color:#222}header{display:flex;justify-content:space-between;border-bottom:2px solid #36c}.to{display:grid;grid-template-columns:1fr 1fr;gap:1cm}table{width:100%;border-collapse:collapse;margin-top:1cm}th{background:#eef;text-align:left}td,th{padding:4px 8px;border-bottom:1px solid #ddd}.n{text-align:right}tfoot td{font-weight:bold}';

function invoiceRow(row: number, number: number): string {
  const quantity = 1 + (row % 7);
  const price = 9.5 + row;
  return `<tr><td>${row}</td><td>SKU-${1000 + row * 13}</td><td>${prose(6, row + number)}</td><td class="n">${quantity}</td><td class="n">${price.toFixed(2)}</td><td class="n">${(price * quantity).toFixed(2)}</td></tr>`;
}

/** A logo, addresses in a grid and a table of 40 rows, on two pages. */
export function invoice(number: number): string {
  const rows = times(40, (row) => invoiceRow(row + 1, number));
  return page(
    `Invoice ${number}`,
    INVOICE_STYLE,
    `<header><h1>Invoice ${1000 + number}</h1>${LOGO}</header><div class="to"><div><b>To</b><br>${prose(9, number)}</div><div><b>From</b><br>${prose(9, number + 3)}</div></div><table><thead><tr><th>#</th><th>Item</th><th>Description</th><th class="n">Quantity</th><th class="n">Price</th><th class="n">Total</th></tr></thead><tbody>${rows}</tbody><tfoot><tr><td colspan="5">Total</td><td class="n">4,711.00</td></tr></tfoot></table>`,
  );
}

let framework = '';
let logoUri = '';

/** An invoice as a web shop sends it: a PNG logo, and all of Bootstrap, whose buttons and fields have transitions. */
export function brandedInvoice(number: number): string {
  framework ||= packaged('bootstrap/dist/css/bootstrap.min.css').toString('utf8');
  logoUri ||= dataUri(logo(), 'image/png');
  const rows = times(30, (row) => invoiceRow(row + 1, number));
  return page(
    `Invoice ${number}`,
    framework,
    `<div class="container py-4"><div class="row align-items-center mb-4"><div class="col"><img src="${logoUri}" width="120" height="60" alt="Pressledger"></div><div class="col text-end"><h1 class="h3">Invoice ${1000 + number}</h1><span class="badge text-bg-success">Paid</span></div></div><div class="row mb-4"><div class="col"><div class="card"><div class="card-body"><h2 class="card-title h6">To</h2>${prose(9, number)}</div></div></div><div class="col"><div class="card"><div class="card-body"><h2 class="card-title h6">From</h2>${prose(9, number + 3)}</div></div></div></div><table class="table table-striped table-sm"><thead class="table-light"><tr><th>#</th><th>Item</th><th>Description</th><th>Quantity</th><th>Price</th><th>Total</th></tr></thead><tbody>${rows}</tbody></table><div class="alert alert-info">${prose(20, number)}</div><a class="btn btn-primary" href="https://example.com/pay/${number}">Pay online</a></div>`,
  );
}

/** An account's bookings that a script lays out from its data. */
export function statement(number: number): string {
  const bookings = Array.from({ length: 60 }, (_, row) => ({
    day: `2026-${String(1 + (row % 12)).padStart(2, '0')}-${String(1 + (row % 28)).padStart(2, '0')}`,
    text: prose(5, row + number),
    cents: ((row * 7919 + number * 104_729) % 200_000) - 90_000,
  }));
  const script = `
    const bookings = ${JSON.stringify(bookings)};
    const money = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' });
    const body = document.querySelector('tbody');
    let balance = 0;
    for (const { day, text, cents } of bookings) {
      balance += cents;
      const row = body.insertRow();
      for (const each of [day, text, money.format(cents / 100), money.format(balance / 100)]) {
        row.insertCell().textContent = each;
      }
      if (cents < 0) row.cells[2].classList.add('debit');
    }
    const months = Map.groupBy(bookings, ({ day }) => day.slice(0, 7));
    const list = document.getElementById('months');
    for (const [month, each] of [...months].sort()) {
      const item = document.createElement('li');
      item.textContent = month + ': ' + money.format(each.reduce((sum, { cents }) => sum + cents, 0) / 100);
      list.append(item);
    }
    document.getElementById('balance').textContent = money.format(balance / 100);`;
  return page(
    `Statement ${number}`,
    `${INVOICE_STYLE}.debit{color:#b00}#months{columns:3}`,
    `<h1>Statement ${number}</h1><p>Balance: <b id="balance"></b></p><table><thead><tr><th>Day</th><th>Text</th><th>Amount</th><th>Balance</th></tr></thead><tbody></tbody></table><ul id="months"></ul><script>${script}</script>`,
  );
}

/** An invoice whose chart is drawn by ten animation frames. */
export function scripted(number: number): string {
  const script = `<canvas id="c" width="400" height="120"></canvas><script>
    const pen = document.getElementById('c').getContext('2d');
    const rows = document.querySelector('tbody').rows;
    let at = 0;
    function draw() {
      const to = Math.min(rows.length, at + 4);
      for (; at < to; at += 1) pen.fillRect(at * 10, 120 - (at * 17 + ${number}) % 100, 8, 100);
      if (at < rows.length) requestAnimationFrame(draw);
    }
    requestAnimationFrame(draw);
  </script>`;
  return invoice(number).replace('</body>', `${script}</body>`);
}

let library = '';

/** A report with two charts of Chart.js, which animates for a second. */
export function animatedCharts(number: number): string {
  library ||= packaged('chart.js/dist/chart.umd.min.js').toString('utf8');
  const months = Array.from({ length: 12 }, (_, month) => `Month ${month + 1}`);
  const series = (seed: number) => ({
    label: `Series ${seed}`,
    data: months.map((_, month) => ((month + 3) * (number + seed) * 37) % 100),
  });
  const data = JSON.stringify({ labels: months, datasets: [series(1), series(2)] });
  return page(
    `Report ${number}`,
    'body{font:11pt/1.5 sans-serif}.chart{width:600px;height:300px}',
    `<h1>Report ${number}</h1><p>${prose(60, number)}</p><div class="chart"><canvas id="bars"></canvas></div><div class="chart"><canvas id="lines"></canvas></div><p>${prose(60, number + 1)}</p><script>${library}</script><script>
      new Chart(document.getElementById('bars'), { type: 'bar', data: ${data} });
      new Chart(document.getElementById('lines'), { type: 'line', data: ${data} });
    </script>`,
  );
}

/** The pictures that all catalogues choose from. */
const PICTURES = 24;
const pictures: string[] = [];

/** Twelve pictures, 2 MB in data URIs, with their texts. */
export function catalogue(number: number): string {
  while (pictures.length < PICTURES)
    pictures.push(dataUri(photograph(pictures.length), 'image/png'));
  const items = times(
    12,
    (item) =>
      `<figure><img src="${pictures[(number * 5 + item) % PICTURES]}" alt="Item ${item}"><figcaption><b>Item ${number}-${item}</b> ${prose(14, item + number)}</figcaption></figure>`,
  );
  return page(
    `Catalogue ${number}`,
    'body{font:10pt/1.4 sans-serif}main{display:grid;grid-template-columns:1fr 1fr;gap:8mm}figure{margin:0;break-inside:avoid}img{width:100%}',
    `<h1>Catalogue ${number}</h1><main>${items}</main>`,
  );
}

let fonts = '';

function fontFace(weight: number, file: string): string {
  const font = packaged(`pdfjs-dist/standard_fonts/${file}`);
  return `@font-face{font-family:House;font-weight:${weight};src:url(${dataUri(font, 'font/ttf')})}`;
}

/** Chapters of text in an embedded web font of two weights. */
export function report(number: number): string {
  fonts ||= fontFace(400, 'LiberationSans-Regular.ttf') + fontFace(700, 'LiberationSans-Bold.ttf');
  const chapters = times(
    6,
    (chapter) =>
      `<h2>${chapter + 1}. ${prose(4, chapter + number)}</h2><p>${prose(110, chapter + number)}.</p><p>${prose(90, chapter + number + 5)}.</p>`,
  );
  return page(
    `Report ${number}`,
    `${fonts}body{font:11pt/1.5 House;margin:0}h1,h2{font-weight:700}`,
    `<h1>Report ${number}</h1>${chapters}`,
  );
}

/** An application that was filled in: fields, choices, boxes and buttons. */
export function form(number: number): string {
  const field = (index: number): string =>
    `<p><label>${prose(2, index)} <input type="${['text', 'date', 'number'][index % 3]}" value="${['', '2026-11-22', String(number)][index % 3] || prose(3, index + number)}"></label></p>`;
  const box = (index: number): string =>
    `<label><input type="${index % 2 === 0 ? 'checkbox' : 'radio'}"${(index + number) % 3 === 0 ? ' checked' : ''}> ${prose(2, index + number)}</label><br>`;
  const choices = times(
    4,
    (choice) => `<option${choice === number % 4 ? ' selected' : ''}>${prose(2, choice)}</option>`,
  );
  return page(
    `Application ${number}`,
    'body{font:11pt/1.5 sans-serif}input,select,textarea{font:inherit}fieldset{margin:4mm 0}',
    `<h1>Application ${number}</h1><form action="https://example.com/" method="post"><fieldset><legend>You</legend>${times(9, field)}</fieldset><fieldset><legend>Choices</legend><select>${choices}</select> <select multiple size="4">${choices}</select><br>${times(12, box)}</fieldset><fieldset><legend>Notes</legend><textarea rows="5" cols="60">${prose(40, number)}</textarea><br><progress value="0.${1 + (number % 9)}"></progress></fieldset><button>Send</button></form>`,
  );
}
