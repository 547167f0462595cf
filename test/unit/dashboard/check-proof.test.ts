/** The checks that the dashboard does in the browser, here in Node, on proofs of a real log. */
import { createHash } from 'node:crypto';
import { test } from 'tap';
import {
  checkBundle,
  checkProof,
  type Proof,
  verifyBundle,
} from '../../../dashboard/src/proof/checks.ts';
import { isConsistent } from '../../../dashboard/src/proof/consistency.ts';
import { CheckpointKeeper } from '../../../dashboard/src/proof/kept-checkpoint.ts';
import type { CheckDependencies, LogSource } from '../../../dashboard/src/proof/log.ts';
import { type Check, runCheck, type Step } from '../../../dashboard/src/proof/steps.ts';
import { consistencyProof } from '../../../src/transparency-log/merkle-tree.ts';
import { signNote } from '../../../src/transparency-log/signed-note.ts';
import { BASE } from '../../support/api.ts';
import { startWithConversion } from '../../support/conversion.ts';
import { bundleOf, changed, noteSigner } from '../../support/evidence.ts';
import { madeLeaves, plainRoot, treeOf } from '../../support/merkle-trees.ts';

const PDF = Buffer.from('%PDF-1.7 the PDF of this test\n%%EOF\n');
const pdfSha256 = createHash('sha256').update(PDF).digest('hex');
const NOW = '2026-11-23T04:00:00.000Z';
const OTHER_HASH = Buffer.alloc(32, 7).toString('base64');

type ProofOfPdf = Proof & { readonly pdfSha256?: string };

/** What a browser keeps of a page. */
function memoryStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

async function startWithProof(t: Parameters<typeof startWithConversion>[0]) {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const id = await api.create();
  await api.complete(accountId, id, PDF);
  const log: LogSource = {
    keys: async () => (await api.call('GET', '/tlog/key')).text,
    checkpoint: async () => (await api.call('GET', '/tlog/checkpoint')).text,
    consistency: async (from, to) => {
      const answer = await api.call('GET', `/tlog/consistency?from=${from}&to=${to}`);
      return answer.status === 200 ? (answer.body['proof'] as string[]) : undefined;
    },
  };
  const proofOf = async (conversionId = id): Promise<ProofOfPdf> => {
    const { body } = await api.call('GET', `${BASE}/conversions/${conversionId}/proof/`, { key });
    return { ...(body as unknown as Proof), conversionId, pdfSha256 };
  };
  const keeper = new CheckpointKeeper(memoryStorage());
  const dependencies = { log, keeper, now: () => new Date(NOW) };
  return { api, id, log, keeper, dependencies, proofOf, proof: await proofOf() };
}

async function all(check: Check): Promise<Step[]> {
  const done: Step[] = [];
  await runCheck(check, (step) => done.push(step));
  const planned = check.plan.slice(0, done.length);
  if (planned.join() !== done.map(({ name }) => name).join()) throw new Error('not as planned');
  return done;
}

const allOf = ({ pdfSha256: sha256, ...proof }: ProofOfPdf, dependencies: CheckDependencies) =>
  all(checkProof(async () => proof, sha256 === undefined ? undefined : { sha256 }, dependencies));

/** The names of the steps that hold, then what the last one found. */
const outcome = (steps: readonly Step[]) => ({
  held: steps.filter(({ holds }) => holds).map(({ name }) => name),
  ...steps.flatMap((step) => (step.holds ? [] : [{ failed: step.name, ...step.difference }]))[0],
});

void test('each step of a true proof holds', async (t) => {
  const { dependencies, proof, keeper } = await startWithProof(t);
  const steps = await allOf(proof, dependencies);
  const held = ['keys', 'checkpoint', 'history', 'events', 'document'];
  t.strictSame(outcome(steps), { held });
  const [, checkpoint] = steps;
  const kept = keeper.read();
  t.match(checkpoint, { facts: { size: kept?.size, root: kept?.root, origin: kept?.origin } });
  t.match(kept, { checkedAt: NOW, keys: [proof.key] });
  const events = steps.find(({ name }) => name === 'events');
  t.match(events, {
    facts: {
      events: [
        { type: 'CreditDebited' },
        { type: 'ConversionRequested' },
        { type: 'ConversionCompleted' },
      ],
    },
  });
});

void test('each alteration of a proof fails at its step', async (t) => {
  const { dependencies, proof, proofOf, api } = await startWithProof(t);
  const other = await api.create();
  const otherProof = await proofOf(other);
  const entriesWith = (change: (text: string) => string, field: 'event' | 'proof') =>
    proof.entries.map((entry, n) =>
      n === 1 ? { ...entry, [field]: change(entry[field]) } : entry,
    );
  const everyProof = (change: (text: string) => string) =>
    proof.entries.map((entry) => ({ ...entry, proof: change(entry.proof) }));
  const [first, second, third] = proof.entries;
  if (!first || !second || !third) throw new Error('The proof lacks events.');
  const [, , root = ''] = first.proof.slice(first.proof.indexOf('\n\n') + 2).split('\n');
  const { verifierKey } = noteSigner(9, 'other.example/log');
  const cases: Readonly<Record<string, [Partial<ProofOfPdf>, object]>> = {
    'another key': [{ key: verifierKey }, { failed: 'keys', of: 'keys' }],
    'another root': [
      { entries: everyProof((text) => text.replace(root, OTHER_HASH)) },
      { failed: 'checkpoint', of: /^the signature of .* holds$/ },
    ],
    'no checkpoint': [
      { entries: everyProof((text) => text.slice(0, text.indexOf('\n\n'))) },
      { failed: 'checkpoint' },
    ],
    'no events': [{ entries: [] }, { failed: 'checkpoint' }],
    'an event altered': [
      { entries: entriesWith((text) => text.replace('"html"', '"url"'), 'event') },
      { failed: 'events', file: `the proof, event ${second.index}`, of: 'root hash' },
    ],
    'a hash altered': [
      {
        entries: entriesWith((text) => text.replace(/\n[^\n]{44}\n/, `\n${OTHER_HASH}\n`), 'proof'),
      },
      { failed: 'events', file: `the proof, event ${second.index}`, of: 'root hash' },
    ],
    'another index': [
      { entries: [first, { ...second, index: second.index + 1 }, third] },
      { failed: 'events', of: 'proof' },
    ],
    'an event left out': [{ entries: [first, third] }, { failed: 'events', of: 'its beginning' }],
    'an event twice': [
      { entries: [first, second, third, third] },
      { failed: 'events', of: 'revision' },
    ],
    'the beginning left out': [
      { entries: [second, third] },
      { failed: 'events', of: 'its beginning' },
    ],
    'events of another conversion': [
      { entries: otherProof.entries },
      { failed: 'events', of: 'conversion', expected: proof.conversionId, found: other },
    ],
    'a proof in no form': [
      { entries: [first, { ...second, event: undefined as unknown as string }] },
      { failed: 'events', of: 'root hash' },
    ],
    'another PDF': [{ pdfSha256: '0'.repeat(64) }, { failed: 'document', found: pdfSha256 }],
  };
  for (const [name, [change, wanted]] of Object.entries(cases)) {
    t.match(outcome(await allOf({ ...proof, ...change }, dependencies)), wanted, name);
  }
});

void test('a visitor who comes back sees that the log goes on from what was kept', async (t) => {
  const { dependencies, proof, proofOf, api, keeper } = await startWithProof(t);
  await allOf(proof, dependencies);
  const first = keeper.read();
  const again = await allOf(await proofOf(), dependencies);
  t.match(again[2], { name: 'history', holds: true, facts: { kept: first } }, 'the same size');
  const later = await api.create();
  const { pdfSha256: _, ...grown } = await proofOf(later);
  const steps = await allOf(grown, dependencies);
  t.match(steps[2], { name: 'history', holds: true, facts: { kept: first } });
  const kept = keeper.read();
  t.ok(first && kept && kept.size > first.size, 'the larger one is kept');

  const old = await allOf(proof, dependencies);
  t.match(old[2], { name: 'history', holds: true }, 'an earlier proof is of the same log');
  t.strictSame(keeper.read(), kept, 'and the larger one stays');
});

void test('a visitor who comes back sees that the log was rewritten', async (t) => {
  const { dependencies, proof, keeper, api } = await startWithProof(t);
  await allOf(proof, dependencies);
  const kept = keeper.read();
  if (!kept) throw new Error('Nothing was kept.');
  const failing = async (change: Partial<typeof kept>) => {
    keeper.keep({ ...kept, ...change });
    const found = outcome(await allOf(proof, dependencies));
    t.match(keeper.read(), change, 'what was kept stays');
    return found;
  };
  const history = { held: ['keys', 'checkpoint'], failed: 'history' };
  t.match(await failing({ root: OTHER_HASH }), history, 'another root of the same size');
  t.match(await failing({ root: OTHER_HASH, size: 2 }), history, 'an event before was changed');
  const found = 'no proof from the service';
  t.match(await failing({ size: kept.size + 1 }), { ...history, found }, 'it was cut');
  const { verifierKey } = noteSigner(9, kept.origin);
  t.match(await failing({ keys: [verifierKey] }), { held: [], failed: 'keys' }, 'another key');
  keeper.forget();
  t.notOk('failed' in outcome(await allOf(proof, dependencies)), 'forgotten');

  await api.signer.rotate(api.context());
  const rotated = await allOf(proof, dependencies);
  t.notOk('failed' in outcome(rotated), 'one of the keys is still in force');
});

void test('what the storage holds besides is not taken for a checkpoint', (t) => {
  for (const text of ['', 'null', '[]', '{"origin":"x"}', '{"size":"1","keys":[]}']) {
    const keeper = new CheckpointKeeper({ ...memoryStorage(), getItem: () => text });
    t.equal(keeper.read(), undefined, text);
  }
  t.end();
});

void test('a checkpoint about another log is refused, with any signature', async (t) => {
  const { dependencies, proof } = await startWithProof(t);
  const [origin = ''] = proof.key?.split('+') ?? [];
  const note = signNote(`other.example/log\n5\n${OTHER_HASH}\n`, [noteSigner(1, origin)]);
  const entries = proof.entries.map((entry) => {
    const head = entry.proof.slice(0, entry.proof.indexOf('\n\n') + 2);
    return { ...entry, proof: head + note };
  });
  const wanted = { failed: 'checkpoint', of: 'origin', expected: origin };
  t.match(outcome(await allOf({ ...proof, entries }, dependencies)), wanted);
});

void test('consistency proofs of small trees, and every false one', async (t) => {
  const leaves = madeLeaves(20);
  const tree = treeOf(leaves);
  const at = (size: number) => ({
    size,
    root: plainRoot(leaves.slice(0, size)).toString('base64'),
  });
  for (let from = 1; from <= 20; from += 1) {
    for (let to = from; to <= 20; to += 1) {
      const smaller = { ...tree, size: to };
      const proof = consistencyProof(smaller, from, to).map((hash) => hash.toString('base64'));
      const holds = await isConsistent(at(from), at(to), proof);
      const other = { ...at(from), root: OTHER_HASH };
      const falseOnes = await Promise.all([
        isConsistent(other, at(to), proof),
        isConsistent(at(from), { ...at(to), root: OTHER_HASH }, proof),
        isConsistent(at(from), at(to), [...proof, OTHER_HASH]),
        isConsistent(at(from), at(to), from === to ? [OTHER_HASH] : proof.slice(1)),
        isConsistent(at(from), at(to), from === to ? ['x'] : [...proof.slice(0, -1), OTHER_HASH]),
      ]);
      if (!holds || falseOnes.includes(true))
        t.fail(`${from} to ${to}: ${String(holds)} ${falseOnes.join()}`);
    }
  }
  t.equal(await isConsistent(at(3), at(2), []), false, 'a larger one first');
});

void test('a bundle is checked with the keys of the service, and against its log of now', async (t) => {
  const { dependencies, api, id, keeper } = await startWithProof(t);
  const { zip } = await bundleOf(api, id);
  const check = (bundle: Buffer) =>
    all(checkBundle(async () => new Uint8Array(bundle), verifyBundle, dependencies));
  await api.create();
  await api.signer.sign();
  const steps = await check(zip);
  const ofBundle = [
    'bundleFiles',
    'bundleCheckpoint',
    'bundleEvents',
    'bundleDocuments',
    'bundleReport',
  ];
  t.strictSame(outcome(steps), {
    held: ['keys', ...ofBundle, 'checkpoint', 'growth', 'history'],
  });
  t.match(steps[5], { facts: { conversion: id, events: { length: 3 } } });
  t.ok(keeper.read(), 'the checkpoint of now is kept');

  const altered = await changed(zip, { 'document.pdf': 'x' });
  t.match(outcome(await check(altered)), {
    held: ['keys'],
    failed: 'bundleFiles',
    file: 'document.pdf',
    of: 'SHA-256',
  });
  const cut = zip.subarray(0, 2000);
  t.match(outcome(await check(cut)), {
    held: ['keys'],
    failed: 'bundleFiles',
  });

  const foreign = await startWithProof(t);
  const theirs = await bundleOf(foreign.api, foreign.id);
  t.match(outcome(await check(theirs.zip)), {
    held: ['keys'],
    failed: 'bundleFiles',
    of: 'signed by',
  });
});
