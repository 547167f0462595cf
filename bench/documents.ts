/** What the renderer's benchmarks convert: the same bytes on every run, each document another number. */
const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  );

const prose = (length: number, seed: number): string =>
  Array.from({ length }, (_, index) => WORDS[(index * 7 + seed) % WORDS.length]).join(' ');

const page = (title: string, style: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head><body>${body}</body></html>`;

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
  const rows = Array.from({ length: 40 }, (_, row) => invoiceRow(row + 1, number)).join('');
  return page(
    `Invoice ${number}`,
    INVOICE_STYLE,
    `<header><h1>Invoice ${1000 + number}</h1>${LOGO}</header><div class="to"><div><b>To</b><br>${prose(9, number)}</div><div><b>From</b><br>${prose(9, number + 3)}</div></div><table><thead><tr><th>#</th><th>Item</th><th>Description</th><th class="n">Quantity</th><th class="n">Price</th><th class="n">Total</th></tr></thead><tbody>${rows}</tbody><tfoot><tr><td colspan="5">Total</td><td class="n">4,711.00</td></tr></tfoot></table>`,
  );
}

/** An invoice whose rows a script writes and whose chart is drawn by animation frames. */
export function scripted(number: number): string {
  const script = `<canvas id="c" width="400" height="120"></canvas><script>
    const pen = document.getElementById('c').getContext('2d');
    const rows = document.querySelector('tbody').rows;
    let at = 0;
    function draw() {
      const to = Math.min(rows.length, at + 20);
      for (; at < to; at += 1) pen.fillRect(at * 10, 120 - (at * 17 + ${number}) % 100, 8, 100);
      if (at < rows.length) requestAnimationFrame(draw);
    }
    requestAnimationFrame(draw);
  </script>`;
  return invoice(number).replace('</body>', `${script}</body>`);
}
