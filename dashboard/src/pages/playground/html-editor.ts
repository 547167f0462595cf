/** The HTML editor: CodeMirror in a shadow root. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { COLOURS } from '../../ui/highlight.ts';
import { t } from '../../words/words.ts';

const HELP = 'editor-help';
const HELP_TEXT = t(
  'Tab indents. Press Escape, then Tab, to leave the editor. Ctrl+Enter or ⌘+Enter converts.',
);

const highlighting = HighlightStyle.define(COLOURS);

const theme = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: 'var(--size-small)', height: '26rem' },
  '&.cm-focused': { outline: 'var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    background: 'transparent',
    color: 'var(--text-muted)',
    border: 'none',
    paddingLeft: 'var(--space-2)',
  },
  '.cm-activeLine': { background: 'var(--surface-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { background: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--neutral-soft)' },
});

const helpStyle = new CSSStyleSheet();
helpStyle.replaceSync(`#${HELP} {
  margin: 0;
  padding: var(--space-2) var(--space-3);
  border-top: 1px solid var(--line);
  color: var(--text-muted);
  font-size: var(--size-small);
}`);

/**
 * Typing over marked text is done by the editor. Chrome would give the new text the colour of the old one, in a style
 * attribute that the Content-Security-Policy refuses.
 */
const typedOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event;
    if (inputType !== 'insertText' || data === null || event.isComposing) return false;
    if (view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type' });
    return true;
  },
});

/** The page opens files that are dropped. The editor would insert their text, too. */
const leavesFiles = EditorView.domEventHandlers({
  drop: ({ dataTransfer }) => dataTransfer?.types.includes('Files') ?? false,
});

type EditorOptions = { readonly text: string; readonly onChange: (text: string) => void };

/** Shows the help below the editor, in the same root: a description cannot be in another one. */
function addHelp(root: ShadowRoot): void {
  if (!root.adoptedStyleSheets.includes(helpStyle)) root.adoptedStyleSheets.push(helpStyle);
  const help = document.createElement('p');
  help.id = HELP;
  help.textContent = HELP_TEXT;
  root.append(help);
}

/** @returns a function that removes the editor */
export function mountEditor(host: HTMLElement, { text, onChange }: EditorOptions): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        // The page converts at this key; the editor would insert a line.
        keymap.of([{ key: 'Mod-Enter', run: () => true }]),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        history(),
        lineNumbers(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
        html(),
        syntaxHighlighting(highlighting),
        typedOverSelection,
        leavesFiles,
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': 'HTML',
          'aria-describedby': HELP,
          tabindex: '0',
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onChange(state.doc.toString());
        }),
      ],
    }),
  });
  addHelp(root);
  return () => {
    view.destroy();
    root.replaceChildren();
  };
}
