/** Documents to begin with: templates with data and a schema, and an electronic invoice; each with options. */
import page from '../../../../samples/e-invoice/page.html?raw';
import xml from '../../../../samples/e-invoice/invoice.xml?raw';
import certificate from '../../../../samples/templates/certificate.html?raw';
import texts from '../../../../samples/templates/data.json';
import invoice from '../../../../samples/templates/invoice.html?raw';
import letter from '../../../../samples/templates/letter.html?raw';
import report from '../../../../samples/templates/report.html?raw';
import type { Draft } from './request.ts';

const HTML = { invoice, letter, report, certificate } as const;

export type StartName = keyof typeof HTML | 'eInvoice';

const json = (value: object): string => JSON.stringify(value, null, 2);

/** The XML says the same as the page, so this is no template. */
function eInvoice(): Partial<Draft> {
  const bytes = new TextEncoder().encode(xml);
  const embedded = { xml: btoa(String.fromCharCode(...bytes)), profile: 'EN 16931' };
  const pdf = { conformance: ['pdfa-3b', 'pdfua-1'], invoice: embedded };
  return { source: 'html', html: page, options: { print_background: true, pdf } };
}

export function startOf(name: StartName): Partial<Draft> {
  if (name === 'eInvoice') return eInvoice();
  const { options, data, schema } = texts[name];
  const template = { html: HTML[name], data: json(data), schema: json(schema) };
  return { source: 'template', template, options };
}
