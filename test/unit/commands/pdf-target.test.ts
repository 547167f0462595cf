import { join } from 'node:path';
import { type Test, test } from 'tap';
import { UsageError } from '../../../src/commands/command.ts';
import { createOutput } from '../../../src/commands/output.ts';
import { pdfTarget } from '../../../src/commands/pdf-target.ts';
import { commandContext } from '../../support/command-context.ts';

const toolbox = (wantsJson: boolean) => commandContext({ output: createOutput(wantsJson) });

function standardOutputIs(t: Test, isTTY: boolean): void {
  const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY') ?? { value: undefined };
  Object.defineProperty(process.stdout, 'isTTY', { value: isTTY, configurable: true });
  t.teardown(() => Object.defineProperty(process.stdout, 'isTTY', before));
}

void test('no PDF goes to a terminal', async (t) => {
  standardOutputIs(t, true);
  const refused = pdfTarget('-', toolbox(false));
  await t.rejects(refused, /cannot show a PDF: redirect standard output, or give -o/);
  await t.rejects(refused, UsageError);
});

void test('a file has a name', async (t) => {
  await t.rejects(pdfTarget('', toolbox(false)), UsageError);
});

void test('standard output holds a PDF or a JSON document', async (t) => {
  standardOutputIs(t, false);
  await pdfTarget('-', toolbox(false));
  await t.rejects(pdfTarget('-', toolbox(true)), /--json and -o - both want standard output/);
  await pdfTarget(join(t.testdir({}), 'a.pdf'), toolbox(true));
});
