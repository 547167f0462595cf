/** Turns what a mail says into plain text and HTML, which any program shows without asking anybody for anything. */
import { htmlText, plainText } from '../text/plain-text.ts';

/** The content of a mail. All of it is plain text, which people may have given. */
export interface Letter {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly facts?: readonly (readonly [name: string, value: string])[];
  readonly action?: { readonly label: string; readonly url: string };
  /** What follows the action. */
  readonly notes?: readonly string[];
  /** The reason why it came to this address. */
  readonly why: string;
}

export interface RenderedLetter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export function renderLetter(letter: Letter): RenderedLetter {
  return { subject: plainText(letter.subject), text: textOf(letter), html: htmlOf(letter) };
}

function textOf({ paragraphs, facts = [], action, notes = [], why }: Letter): string {
  const blocks = [
    ...paragraphs.map(plainText),
    facts.map(([name, value]) => `${plainText(name)}: ${plainText(value)}`).join('\n'),
    action && `${plainText(action.label)}:\n${plainText(action.url)}`,
    ...notes.map(plainText),
    `--\n${plainText(why)}`,
  ];
  return `${blocks.filter((block) => block !== undefined && block !== '').join('\n\n')}\n`;
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
/** Programs that know no style sheets show the light colours, which each element has. */
const DARK = `@media (prefers-color-scheme: dark) {
.page { background: #16181d !important; }
.sheet { background: #22252c !important; border-color: #3a3f4a !important; }
.ink { color: #eceef2 !important; }
.dim { color: #a9b0bd !important; }
.button { background: #7aa7ff !important; color: #10131a !important; }
}`;

const paragraph = (text: string, style = 'color:#1d2330;font-size:16px', name = 'ink'): string =>
  `<p class="${name}" style="margin:0 0 16px;line-height:1.5;${style}">${htmlText(text)}</p>`;

const DIM = 'color:#5b6472;font-size:14px';

function htmlOf({ subject, paragraphs, facts = [], action, notes = [], why }: Letter): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td class="dim" style="padding:4px 16px 4px 0;vertical-align:top;${DIM}">${htmlText(name)}</td>` +
      `<td class="ink" style="padding:4px 0;color:#1d2330;font-size:14px;word-break:break-word">${htmlText(value)}</td></tr>`,
  );
  const table =
    rows.length === 0
      ? ''
      : `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px">${rows.join('')}</table>`;
  const button =
    action === undefined
      ? ''
      : `<p style="margin:8px 0 24px"><a class="button" href="${htmlText(action.url)}" style="display:inline-block;` +
        'padding:12px 20px;border-radius:6px;background:#1f5fd6;color:#ffffff;font-size:16px;text-decoration:none">' +
        `${htmlText(action.label)}</a></p>` +
        paragraph('If the button does not work, open this address:', DIM, 'dim') +
        `<p class="ink" style="margin:0 0 16px;font-size:13px;line-height:1.4;color:#1d2330;word-break:break-all">${htmlText(action.url)}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(subject)}</title>
<style>
${DARK}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f7;${FONT}">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f4f7">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="sheet" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;background:#ffffff;border:1px solid #d9dde5;border-radius:8px">
<tr><td style="padding:28px 28px 12px;text-align:left;${FONT}">
<h1 class="ink" style="margin:0 0 16px;font-size:20px;line-height:1.3;color:#1d2330">${htmlText(subject)}</h1>
${paragraphs.map((each) => paragraph(each)).join('\n')}
${table}${button}${notes.map((each) => paragraph(each, DIM, 'dim')).join('\n')}
</td></tr>
<tr><td style="padding:0 28px 20px;text-align:left;${FONT}">
<p class="dim" style="margin:0;font-size:12px;line-height:1.4;color:#5b6472">${htmlText(why)}</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}
