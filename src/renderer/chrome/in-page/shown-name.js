/* oxlint-disable typescript/unbound-method, unicorn/consistent-function-scoping -- methods get their object by `call`; each world runs this once */
/**
 * Names a page that has no title by what it shows: its first heading, else its first words. It runs in the world of
 * `settle.js`, after it, and asks as little of the page's own names.
 */
(() => {
  const { own, find, scopes } = /** @type {any} */ (globalThis).settle;
  const HEADINGS = 'h1,h2,h3,h4,h5,h6,[role=heading i]';
  /** A page of nothing but hidden texts has no name. */
  const MOST_LOOKED_AT = 500;
  /** To lay out the text of a longer block costs more than its first words are worth. */
  const LONG_TEXT = 2_000;

  /** @type {(node: Node) => Element | null} */
  const parentOf = (node) => own('parentElement', node, Node.prototype);
  /** @type {(node: Node) => string} */
  const rawTextOf = (node) => own('textContent', node, Node.prototype) ?? '';

  /** Texts for screen readers alone are clipped away. @type {(element: Element | null) => boolean} */
  const isClipped = (element) => {
    for (let each = element; each; each = parentOf(each)) {
      const { opacity, overflowX, clip, clipPath } = getComputedStyle(each);
      const { width, height } = Element.prototype.getBoundingClientRect.call(each);
      const isTiny = (width <= 1 || height <= 1) && overflowX !== 'visible';
      if (opacity === '0' || isTiny || clip.startsWith('rect') || clipPath === 'inset(50%)')
        return true;
    }
    return false;
  };
  /** @type {(node: Node, element: Element | null) => boolean} */
  const isShown = (node, element) => {
    if (element === null || rawTextOf(node).trim() === '') return false;
    const range = new Range();
    range.selectNodeContents(node);
    const { width, height, right, bottom } = range.getBoundingClientRect();
    const isOnPaper = width > 0 && height > 0 && right + scrollX > 0 && bottom + scrollY > 0;
    return isOnPaper && getComputedStyle(element).visibility === 'visible' && !isClipped(element);
  };

  /** The text as it is shown, such as in capitals. @type {(node: Node) => string} */
  const textOf = (node) =>
    node instanceof HTMLElement && rawTextOf(node).length <= LONG_TEXT
      ? own('innerText', node, HTMLElement.prototype)
      : rawTextOf(node).slice(0, LONG_TEXT);

  /** The block that a text is in, or the text itself where that is long. @type {(text: Node) => Node} */
  const blockOf = (text) => {
    let block = text;
    for (let each = parentOf(text); each; each = parentOf(each)) {
      if (rawTextOf(each).length > LONG_TEXT) break;
      block = each;
      if (!/^(inline|contents$)/.test(getComputedStyle(each).display)) break;
    }
    return block;
  };

  const firstHeading = () => {
    for (const scope of scopes()) {
      const shown = find(scope, HEADINGS)
        .slice(0, MOST_LOOKED_AT)
        .find((/** @type {Element} */ each) => isShown(each, each));
      if (shown !== undefined) return textOf(shown);
    }
    return '';
  };
  /** @type {(characters: number) => string} */
  const firstWords = (characters) => {
    let words = '';
    let looked = 0;
    for (const scope of scopes()) {
      const walk = Document.prototype.createTreeWalker.call(document, scope, NodeFilter.SHOW_TEXT);
      let text = walk.nextNode();
      while (text !== null && words.length < characters && looked < MOST_LOOKED_AT) {
        looked += 1;
        if (isShown(text, parentOf(text))) {
          const block = blockOf(text);
          words = `${words} ${textOf(block)}`.trim();
          while (text !== null && block.contains(text)) text = walk.nextNode();
        } else text = walk.nextNode();
      }
    }
    return words;
  };

  /**
   * In one line; a longer text ends with its last whole word.
   * @type {(text: string, characters: number) => string}
   */
  const cut = (text, characters) => {
    const line = text.replaceAll(/\s+/g, ' ').trim();
    if (line.length <= characters) return line;
    const start = line.slice(0, characters - 1).replace(/[\uD800-\uDBFF]$/, '');
    const space = start.lastIndexOf(' ');
    return `${space > characters / 2 ? start.slice(0, space) : start}…`;
  };
  /** @param {number} characters the most that are wanted */
  const shownName = (characters) => {
    const heading = cut(firstHeading(), characters);
    return heading === '' ? cut(firstWords(characters), characters) : heading;
  };
  /** @type {any} */ (globalThis).settle.shownName = shownName;
})();
