/** Templates to begin with, each with data, a schema and options. */
import certificate from '../../../../samples/templates/certificate.html?raw';
import texts from '../../../../samples/templates/data.json';
import invoice from '../../../../samples/templates/invoice.html?raw';
import letter from '../../../../samples/templates/letter.html?raw';
import report from '../../../../samples/templates/report.html?raw';

const HTML = { invoice, letter, report, certificate } as const;

export type StartName = keyof typeof HTML;

const json = (value: object): string => JSON.stringify(value, null, 2);

export function startOf(name: StartName) {
  const { options, data, schema } = texts[name];
  return { html: HTML[name], data: json(data), schema: json(schema), options };
}
