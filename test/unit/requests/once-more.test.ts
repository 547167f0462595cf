import { test } from 'tap';
import { onceMore } from '../../../src/requests/once-more.ts';
import { ValidationIssues, validated } from '../../../src/requests/validation.ts';

const FIRST = {
  filename: 'sealed',
  batchId: 'batch_01jd3v3p8z6s2q4w9x7y5t1r0k',
  retryOf: 'conv_01jd3v3p8z6s2q4w9x7y5t1r0k',
} as const;
const HTML = { html: '<p>x</p>' };

void test('what was said of the moment of acceptance is said again by the rules of now', (t) => {
  const again = (
    facts: Parameters<typeof onceMore>[1],
    document: Parameters<typeof onceMore>[2],
    rules: Parameters<typeof onceMore>[3],
  ) => validated((issues) => onceMore(issues, { ...FIRST, ...facts }, document, rules));
  const { filename } = FIRST;
  const signedBy = 'service';
  t.strictSame(again({ signedBy }, HTML, { signing: { by: 'account' } }), {
    facts: { filename, signedBy: 'account' },
    document: HTML,
  });
  t.strictSame(again({}, HTML, { signing: { by: 'account' } }).facts, { filename }, 'not signed');
  const ofAccount = { retentionSeconds: 60, retentionOfAccount: true } as const;
  t.strictSame(again(ofAccount, HTML, {}).facts, { filename }, 'the account says it again');
  t.strictSame(again({ retentionSeconds: 60 }, HTML, {}).facts, { filename, retentionSeconds: 60 });
  const linked = { ...HTML, verify_url: 'https://old.example/verify' };
  const verifyUrl = 'https://new.example/verify';
  t.strictSame(again({}, linked, { verifyUrl }).document, { ...HTML, verify_url: verifyUrl });
  t.strictSame(again({}, HTML, { verifyUrl }).document, HTML, 'no link was asked for');

  const issues = new ValidationIssues();
  const refusal = 'The certificate expired on 2026-01-01.';
  onceMore(issues, { signedBy }, linked, { signing: { refusal } });
  t.throws(() => issues.throwIfAny(), {
    code: 'validation_error',
    details: { 'pdf.sign': [refusal], 'pdf.verify_link': [/^Leads nowhere/] },
  });
  t.end();
});
