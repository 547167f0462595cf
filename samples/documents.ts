/** Programs that work on finished PDFs, as the dashboard shows them. */
import { LANGUAGES } from './all.ts';
import { quoted } from './curl.ts';
import { indented, jsonOf, sampleRequest, shortJsonOf, type Values, visible } from './json.ts';
import { clientIn, literal } from './typescript.ts';

/** The file that samples read the steps from where these are too long to be part of the sample. */
export const STEPS_FILE = 'steps.json';

/** A PDF of this machine by the name of its file, or that of a conversion. */
export type SampleSource = { readonly password?: string } & (
  | { readonly file: string; readonly conversion?: never }
  | { readonly conversion: string; readonly file?: never }
);

export interface SampleWork {
  readonly sources: readonly SampleSource[];
  readonly steps: readonly Values[];
  /** The fields beside them, such as the name of the file. */
  readonly named: Values;
  /** The service's origin. */
  readonly server: string;
}

/** Within double quotes curl takes a backslash before these two (`man curl`, `--form`). */
const formFile = (name: string): string => `files=@"${name.replace(/["\\]/g, String.raw`\$&`)}"`;

/** The fields of a source beside its file. */
function placeOf(source: SampleSource): Values {
  const { file: _file, ...place } = source;
  return place;
}

const isSplit = ({ type }: Values): boolean => type === 'split';

const oneLine = (value: unknown): string => visible(JSON.stringify(value));

/** A text stands in a form as it is, all else as JSON. */
const formText = (value: unknown): string => (typeof value === 'string' ? value : oneLine(value));

export function curlOfWork({ sources, steps, named, server }: SampleWork): string {
  const files = sources.flatMap(({ file }) => (file === undefined ? [] : [formFile(file)]));
  const places = sources.map(placeOf);
  const arePlain = places.every((place) => Object.keys(place).length === 0);
  const texts = { ...(!arePlain && { sources: places }), ...named };
  const json = shortJsonOf(steps);
  const lines = [
    'curl --silent --show-error --fail-with-body',
    ...(steps.some(isSplit)
      ? []
      : [
          "--output document.pdf --write-out '%{http_code}\\n'",
          "--header 'Accept: application/pdf'",
          "--header 'Prefer: wait=30'",
        ]),
    '--header "X-API-Key: $PRESSLEDGER_API_KEY"',
    ...files.map((file) => `--form ${quoted(file)}`),
    ...Object.entries(texts).map(
      ([name, value]) => `--form-string ${quoted(`${name}=${formText(value)}`)}`,
    ),
    ...(json === undefined ? [`--form 'steps=<${STEPS_FILE}'`] : []),
    ...(json !== undefined && steps.length > 0 ? [`--form-string ${quoted(`steps=${json}`)}`] : []),
    quoted(`${server}/api/v1/documents/`),
  ];
  const answer = steps.some(isSplit)
    ? 'a batch: GET /batches/{id}/zip/ has its PDFs once it has ended'
    : 'the PDF, or after 30 seconds status 202 and the id of the conversion';
  return `# The answer is ${answer}.\n${lines.join(' \\\n  ')}\n`;
}

const fields = (place: Values): string =>
  Object.entries(place)
    .map(([name, value]) => `, ${name}: ${oneLine(value)}`)
    .join('');

/** One source as an element of a list. */
function sourceIn(source: SampleSource): string {
  const { file } = source;
  const place = placeOf(source);
  if (file === undefined) return oneLine(place);
  return `{ file: await readFile(${oneLine(file)}, 'base64')${fields(place)} }`;
}

export function typescriptOfWork({ sources, steps, named, server }: SampleWork): string {
  const split = steps.find(isSplit);
  const others = steps.filter((step) => !isSplit(step));
  const stored = `JSON.parse(await readFile('${STEPS_FILE}', 'utf8'))`;
  const long =
    split === undefined ? stored : `${stored}.filter(({ type }: any) => type !== 'split')`;
  const given = [
    `[\n${sources.map((source) => `  ${sourceIn(source)},\n`).join('')}]`,
    ...(split === undefined ? [] : [oneLine(split['parts'] ?? [])]),
    shortJsonOf(steps) === undefined ? long : literal(jsonOf(others)),
    literal(jsonOf(named)),
  ];
  // What is empty at the end is left out.
  while (['[]', '{}'].includes(given.at(-1) ?? '')) given.pop();
  const call = (name: string): string =>
    `client.documents.${name}(\n${given.map((each) => `  ${indented(each, '  ')},\n`).join('')})`;
  const rest =
    split === undefined
      ? `const { id } = await ${call('create')};
const ended = await client.wait(id);
if (ended.status === 'failed') throw new Error(ended.error_message);
await writeFile('document.pdf', await client.download(ended));
`
      : `let batch = await ${call('split')};
while (batch.status === 'running') {
  batch = await client.batches.get(batch.id, { waitSeconds: 30 });
}
await writeFile('parts.zip', await client.batches.zip(batch.id));
`;
  return `${clientIn(server, ['readFile', 'writeFile'])}\n${rest}`;
}

/** The languages whose samples read the PDFs of this machine. */
const WITH_FILES = [
  { id: 'curl', title: 'curl', sample: curlOfWork },
  { id: 'typescript', title: 'TypeScript', sample: typescriptOfWork },
];

/** The work in these languages; in all others, too, where its JSON needs no file of this machine and makes one PDF. */
export function samplesOfWork(work: SampleWork) {
  const { sources, steps, named, server } = work;
  const request = { sources, ...(steps.length > 0 && { steps }), ...named };
  const sent = sampleRequest(request, server, 'documents/');
  const areStored = sources.length > 0 && sources.every(({ file }) => file === undefined);
  const others = LANGUAGES.filter(({ id }) => WITH_FILES.every((each) => each.id !== id));
  return [
    ...WITH_FILES.map(({ id, title, sample }) => ({ id, title, code: sample(work) })),
    ...(areStored && sent.json !== undefined && !steps.some(isSplit)
      ? others.map(({ id, title, sample }) => ({ id, title, code: sample(sent) }))
      : []),
  ];
}
