/** The readable part of a bundle of evidence: one page of HTML for screen and paper, without scripts. */

import { tagsIn } from '../../accounts/conversion-names.ts';
import { counted, numberText } from '../../domain/counted.ts';
import { SOURCES } from '../../domain/event-summary.ts';
import type { EventOf, EventType } from '../../domain/events.ts';
import { htmlText } from '../../text/plain-text.ts';
import { isoTime } from '../../time/clock.ts';
import { actorText, type HistoryEntry, memberText } from '../history.ts';
import { type Absent, type DocumentName, documentNames } from './bundle.ts';

type DataOf<T extends EventType> = EventOf<T>['data'] | undefined;

/** The facts in the report and README.txt of a bundle. */
export interface EvidenceFacts {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
  readonly conversionId: string;
  readonly accountId: string;
  /** What people call the conversion, its account and its template, as far as there are names. */
  readonly names: {
    readonly conversion: string | undefined;
    readonly account: string | undefined;
    readonly template: string | undefined;
  };
  readonly requested: EventOf<'ConversionRequested'>['data'];
  readonly completed: DataOf<'ConversionCompleted'>;
  readonly failed: DataOf<'ConversionFailed'>;
  /** Names of the witnesses whose signatures the checkpoint has. */
  readonly cosigners: readonly string[];
  readonly isTimestamped: boolean;
  readonly absent: Absent;
  readonly events: readonly EvidenceEvent[];
}

export interface EvidenceEvent extends HistoryEntry {
  /** The event's number in the log. */
  readonly index: number;
  /** The hash of its leaf, base64. */
  readonly leaf: string;
}

/** HTML that is safe to put into a page. */
interface Html {
  readonly html: string;
}
type Part = string | number | Html | readonly Part[] | undefined;

/** The verifier escapes texts in the same way. */
function textOf(part: Part): string {
  if (part === undefined) return '';
  if (Array.isArray(part)) return part.map(textOf).join('');
  return typeof part === 'object' ? (part as Html).html : htmlText(String(part));
}

/** A template whose values are escaped, but for those that are HTML. */
const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, n) => text + textOf(parts[n])).join(''),
});

/** A text that only the service could decrypt: the log has it sealed, so the bundle cannot prove it. */
const decrypted = (text: string): Html => html`<span class="decrypted">${text}<sup>†</sup></span>`;

/** Names a thing as people know it, with the id that the events have. */
const named = (name: string | undefined, id: string): Part =>
  name === undefined ? code(id) : [decrypted(name), ' ', code(id)];

/** Empty without a value. */
const row = (name: string, value: Part): Part =>
  value === undefined ? undefined : html`<dt>${name}</dt><dd>${value}</dd>`;

const code = (text: string): Html => html`<code>${text}</code>`;

/** A sealed field of one of the events, decrypted; undefined if there is none, or nobody can open it. */
function sealedText({ events }: EvidenceFacts, field: string): string | undefined {
  const texts = events.map(({ data }) => data[field]);
  return texts.find((each) => typeof each === 'string');
}

const CONTENTS: readonly (readonly [what: string, proof: string])[] = [
  ['The document, as it was delivered', 'Its SHA-256 is in the event ConversionCompleted.'],
  [
    'What was to be printed: HTML or URL, files, headers and cookies. The options are in the event.',
    'Its HMAC is in the event ConversionRequested; keys.json has the key of this one HMAC.',
  ],
  [
    'How the document was made: Chrome, fonts, resources with their hashes, times',
    'The SHA-256 of its encrypted form is in ConversionCompleted; keys.json has what it was encrypted with.',
  ],
];

function outcome(facts: EvidenceFacts): Part {
  const { completed, failed } = facts;
  if (completed) {
    const warnings = JSON.parse(sealedText(facts, 'warnings') ?? '[]') as readonly string[];
    const { pages, pdf, completedAt, renderer, chrome } = completed;
    return [
      row('Outcome', 'Completed'),
      row('PDF', `${counted(pages, 'page')}, ${numberText(pdf.bytes)} bytes`),
      row('SHA-256 of the PDF', code(pdf.sha256)),
      row('Completed', isoTime(completedAt)),
      row('Rendered by', `${renderer}, ${chrome}`),
      warnings.map((each) => row('Warning', decrypted(each))),
    ];
  }
  if (!failed) return row('Outcome', 'Not ended when this bundle was made');
  const reason = sealedText(facts, 'message');
  return [
    row('Outcome', `Failed (${failed.code})`),
    row('Reason', reason === undefined ? undefined : decrypted(reason)),
    row('Failed', isoTime(failed.failedAt)),
  ];
}

function eventItem(event: EvidenceEvent): Html {
  const { index, time, type, leaf, summary, actor, client_address: address } = event;
  const { request_id: request, stream, revision } = event;
  const party = actorText(actor);
  const by = actor.key_prefix === undefined ? party : decrypted(party);
  const member = memberText(actor);
  const person = member && [' of ', decrypted(member)];
  const from = address === undefined ? '' : [', from ', decrypted(address)];
  return html`<li id="event-${index}"><p>#${index} <time datetime="${time}">${time}</time> <b>${type}</b> ${code(leaf)}</p>
<h3>${summary}</h3>
<p>by ${by}${person ?? ''}${from}${request === undefined ? '' : [', request ', decrypted(request)]}; ${stream}, revision ${revision}</p></li>
`;
}

const fileRow = (
  name: string,
  what: string,
  status: 'Proved' | 'Signed' | 'Absent',
  why: string,
): Html =>
  html`<tr><td>${code(name)}</td><td>${what}</td><td class="${status}">${status}</td><td>${why}</td></tr>
`;

function documentRow(name: DocumentName, n: number, absent: Absent): Html {
  const [what = '', proof = ''] = CONTENTS[n] ?? [];
  const reason = absent.get(name);
  return fileRow(name, what, reason === undefined ? 'Proved' : 'Absent', reason ?? proof);
}

export function reportHtml(facts: EvidenceFacts): string {
  const {
    conversionId,
    accountId,
    names,
    requested,
    origin,
    size,
    root,
    cosigners,
    absent,
    events,
  } = facts;
  const text = (name: string, field: string): Part => {
    const opened = sealedText(facts, field);
    return row(name, opened === undefined ? undefined : decrypted(opened));
  };
  const tags = Object.entries(tagsIn(sealedText(facts, 'tags')) ?? {});
  const options = Object.entries(requested.options).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evidence of ${conversionId}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<header>
<p class="kind">Evidence of a conversion</p>
<h1>${names.conversion === undefined ? conversionId : decrypted(names.conversion)}</h1>
<p>What happened to this document, as the event log ${origin} holds it. The events are proved by the log’s signed
checkpoint; <code>README.txt</code> says how to check that without the service.</p>
</header>
<section>
<h2>The conversion</h2>
<dl>
${outcome(facts)}
${row('Conversion', code(conversionId))}
${row('Requested', `${isoTime(requested.requestedAt)}, from ${SOURCES[requested.source]}`)}
${requested.template && row('Template', [named(names.template, requested.template.id), `, version ${requested.template.version}`])}
${text('SHA-256 of its data', 'templateData')}
${text('File name', 'filename')}
${text('Reference', 'reference')}
${tags.map(([name, value]) => row(`Tag ${name}`, decrypted(value)))}
${text('Address', 'address')}
${text('Title of the page', 'title')}
${row('Account', named(names.account, accountId))}
${row('Options', options.join(', '))}
</dl>
</section>
<section>
<h2>What happened</h2>
<ol>
${events.map(eventItem)}</ol>
</section>
<section>
<h2>The log</h2>
<dl>
${row('Origin', code(origin))}
${row('Checkpoint', `${size} events`)}
${row('Root hash', code(root.toString('base64')))}
${row('Cosigned by', cosigners.length === 0 ? 'no witness' : cosigners.join(', '))}
${row('Timestamp', facts.isTimestamped ? 'RFC 3161, in checkpoint.tst' : 'none')}
</dl>
</section>
<section>
<h2>What is in the bundle</h2>
<table>
<thead><tr><th>File</th><th>Content</th><th></th><th>How that is known</th></tr></thead>
<tbody>
${fileRow('events.jsonl', 'The events above, as stored', 'Proved', 'Each leads to the root hash of the checkpoint.')}
${documentNames(requested.options.format).map((name, n) => documentRow(name, n, absent))}
${fileRow('report.html', 'This page', 'Signed', 'Its events are compared with events.jsonl. Its sentences, and the texts marked †, are the service’s word.')}
${fileRow('README.txt', 'How to check the bundle', 'Signed', 'The service’s word.')}
</tbody>
</table>
<p><b>Proved</b>: it agrees with the log, under the checkpoint. <b>Signed</b>: the service has signed it, in
<code>contents.txt</code>. <b>†</b>: the log has this text encrypted; the service has decrypted it.</p>
<p>The bundle holds what the log held at the checkpoint. What happened later is not in it.</p>
</section>
</body>
</html>
`.html;
}

const STYLE = `
:root { color-scheme: light; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --good: #1b6e44; --mark: #2456a6; }
* { box-sizing: border-box; }
body { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.5rem; color: var(--ink); background: #fff;
  font: 15px/1.5 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
header { border-bottom: 3px solid var(--ink); margin-bottom: 1.5rem; }
.kind { margin: 0; color: var(--mark); font-weight: 600; letter-spacing: .04em; text-transform: uppercase; font-size: .8rem; }
h1 { margin: .1rem 0 .6rem; font-size: 1.5rem; line-height: 1.3; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .6rem; font-size: 1.1rem; }
h3 { margin: .1rem 0; font-size: 1rem; font-weight: 600; }
code { font: .87em ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 11rem 1fr; margin: 0; border-top: 1px solid var(--line); }
dt, dd { margin: 0; padding: .35rem 0; border-bottom: 1px solid var(--line); min-width: 0; }
dt { color: var(--soft); }
ol { list-style: none; margin: 0; padding: 0 0 0 1.4rem; }
li { position: relative; display: flex; flex-direction: column; padding: 0 0 1.1rem; break-inside: avoid; }
li::before { content: ""; position: absolute; left: -1.4rem; top: .45rem; width: .7rem; height: .7rem; border-radius: 50%;
  border: 2px solid var(--mark); background: #fff; z-index: 1; }
li:not(:last-child)::after { content: ""; position: absolute; left: calc(-1.4rem + .3rem); top: .9rem; bottom: -.5rem;
  border-left: 2px solid var(--line); }
li h3 { order: -1; }
li p { margin: 0; color: var(--soft); font-size: .87rem; overflow-wrap: anywhere; }
li p b { color: var(--ink); font-weight: 600; }
.decrypted sup { color: var(--mark); line-height: 0; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead { display: table-header-group; color: var(--soft); }
tr { break-inside: avoid; }
td:first-child code { white-space: nowrap; }
.Proved { color: var(--good); font-weight: 600; }
.Signed { color: var(--mark); font-weight: 600; }
.Absent { color: var(--soft); font-weight: 600; }
@page { size: A4; margin: 16mm 14mm; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; } }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; } dt { border: 0; padding-bottom: 0; } }
`;
