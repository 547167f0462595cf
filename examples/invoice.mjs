// Makes an invoice from data: node invoice.mjs invoice.json invoice.pdf
import { readFile, writeFile } from 'node:fs/promises';
import { convert } from './convert.mjs';

const [input, output] = process.argv.slice(2);
const invoice = JSON.parse(await readFile(input, 'utf8'));

const money = new Intl.NumberFormat('en', { style: 'currency', currency: invoice.currency });
const total = invoice.lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0);

/** Text becomes HTML: data from elsewhere must not add markup or scripts to the page. */
function text(value) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return String(value).replace(/[&<>"']/g, (character) => entities[character]);
}

const html = `<!doctype html>
<html lang="en">
<title>Invoice ${text(invoice.number)}</title>
<style>
  body { font: 10pt/1.5 sans-serif; color: #1d2733 }
  header { display: flex; justify-content: space-between; border-bottom: 3pt solid #1f6f8b }
  h1 { color: #1f6f8b; margin: 0 }
  table { width: 100%; border-collapse: collapse; margin-top: 1cm }
  th { text-align: left; background: #e8f1f4 }
  th, td { padding: 2mm }
  .number { text-align: right }
  tbody tr { border-bottom: 0.5pt solid #c9d5da; break-inside: avoid }
  tfoot { font-weight: bold; font-size: 12pt }
</style>
<header><h1>Invoice</h1><p>${text(invoice.number)}<br>${text(invoice.date)}</p></header>
<p><b>From</b> ${text(invoice.from)}<br><b>To</b> ${text(invoice.to)}</p>
<table>
  <thead><tr><th>Item<th class="number">Quantity<th class="number">Price<th class="number">Amount</tr></thead>
  <tbody>${invoice.lines
    .map(
      (line) => `<tr><td>${text(line.text)}<td class="number">${line.quantity}
        <td class="number">${money.format(line.price)}
        <td class="number">${money.format(line.quantity * line.price)}</tr>`,
    )
    .join('')}</tbody>
  <tfoot><tr><td colspan="3">Total<td class="number">${money.format(total)}</tr></tfoot>
</table>
</html>`;

const pdf = await convert({
  html,
  print_background: true,
  margin_top: '2cm',
  margin_bottom: '2cm',
  footer_html: `<div style="font-size: 8pt; width: 100%; text-align: center">
    Invoice ${text(invoice.number)} · page <span class="pageNumber"></span> of <span class="totalPages"></span>
  </div>`,
  metadata: { title: `Invoice ${invoice.number}`, author: invoice.from },
});
await writeFile(output, pdf);
