/* oxlint-disable typescript/unbound-method, unicorn/consistent-function-scoping -- methods get their object by `apply`; each world runs this once */
/**
 * What `settle.ts` asks of a page. It runs in a world of its own in each frame, where what a page did to Promise,
 * Object.prototype or requestAnimationFrame does not exist. Elements of a page may cover the names on `document`, here
 * too: hence the methods and properties of the prototypes.
 */
(() => {
  const { apply } = Reflect;
  /** Rounds of finishing: what the end of one animation changes may start a transition. */
  const MAX_ROUNDS = 5;
  /** The time at which SVG's animations stand, from the start of their document. */
  const SVG_SECONDS = 5;
  const LATE_MS = 1_000;
  const MAX_URL_LENGTH = 2_048;
  const MAX_BROKEN = 100;

  /** @type {(name: string, of?: Node, prototype?: object) => any} */
  const own = (name, of = document, prototype = Document.prototype) =>
    apply(
      /** @type {() => unknown} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get),
      of,
      [],
    );
  /** @param {Document | ShadowRoot} scope */
  const methodsOf = (scope) => (scope === document ? Document : ShadowRoot).prototype;
  /** @type {(scope: Document | ShadowRoot, selector: string) => any[]} */
  const find = (scope, selector) => [...methodsOf(scope).querySelectorAll.call(scope, selector)];
  /** The document and its open shadow roots. */
  const scopes = () => {
    /** @type {(Document | ShadowRoot)[]} */
    const all = [document];
    for (const scope of all) {
      for (const { shadowRoot } of find(scope, '*')) {
        if (shadowRoot instanceof ShadowRoot) all.push(shadowRoot);
      }
    }
    return all;
  };

  /**
   * Sets the page's clock ahead, if there is an order, and tells what is still to come then.
   * @type {(channel: string, order: object | null) => Promise<object>}
   */
  const clock = async (channel, order) => {
    const asked = new CustomEvent(channel, { detail: JSON.stringify(order), cancelable: true });
    /** @type {Promise<object>} */
    const told = new Promise((resolve) => {
      /** @param {any} event */
      const heard = ({ detail }) => resolve(JSON.parse(detail));
      performance.addEventListener(`${channel}-answer`, heard, { once: true });
    });
    // A document without a clock, such as a picture, does not hear of it.
    const isThere = !performance.dispatchEvent(asked);
    return { ...(isThere && (await told)), scripts: own('scripts').length };
  };

  /**
   * Evaluates when so many frames have been drawn.
   * @param {number} count
   * @param {boolean} [isTall] of a window that has become tall: loaders that listen to scrolling alone look at what is in view
   */
  const frames = async (count, isTall = false) => {
    for (let drawn = 0; drawn < count; drawn += 1) await new Promise(requestAnimationFrame);
    const scrolled = new Event('scroll', { bubbles: true });
    if (isTall) EventTarget.prototype.dispatchEvent.call(document, scrolled);
    return true;
  };
  const screens = () => [own('documentElement')?.scrollHeight ?? 0, innerHeight];
  /** @param {number} most screens */
  const scroll = async (most) => {
    const [height = 0] = screens();
    const end = Math.min(height, most * innerHeight);
    for (let top = innerHeight; top < end + innerHeight; top += innerHeight) {
      scrollTo({ top: top < end ? top : 0, behavior: 'instant' });
      await frames(1);
    }
    return true;
  };
  // Evaluates once nothing is left to do: frameworks cut their work into messages to themselves, of which the page's
  // clock knows nothing. No idle callback: Chrome calls those only when it draws.
  const rest = () => scheduler.postTask(() => true, { priority: 'background' });

  // No list of a document's animations has those of the copies that `use` shows, which lie in closed roots. A rule of the
  // page's style reaches them: no `html` is above them. The caret of a field blinks: it would be on paper by chance.
  const STILL = `:not(html,html *){animation-duration:0s!important;transition:none!important}
    :focus{caret-color:transparent!important}`;
  /** @type {CSSStyleSheet | undefined} */
  let still;
  const isSeen = (/** @type {Animation} */ { effect }) => {
    const target = effect instanceof KeyframeEffect && effect.target;
    if (!target) return false;
    const { getBoundingClientRect, checkVisibility } = Element.prototype;
    const box = apply(getBoundingClientRect, target, []);
    const asked = { opacityProperty: true, visibilityProperty: true };
    const isOpaque = apply(checkVisibility, target, [asked]);
    return isOpaque && Math.min(box.right, box.bottom, box.width, box.height) > 0;
  };
  const isLate = (/** @type {Animation} */ { effect, currentTime }) =>
    (effect?.getComputedTiming().delay ?? 0) - Number(currentTime) > LATE_MS;
  const end = (/** @type {Animation} */ each) => {
    try {
      if (each.timeline instanceof DocumentTimeline) each.finish();
      else each.cancel();
    } catch {
      // It has no end.
      each.cancel();
    }
  };
  const TIMED = 'animate,animateMotion,animateTransform,set';
  const ENDLESS = `:is(${TIMED}):is([repeatCount=indefinite],[repeatDur=indefinite])`;
  /** @param {Document | ShadowRoot} scope */
  const finishIn = (scope) => {
    let done = 0;
    /** @returns {Animation[]} */
    const moving = () =>
      apply(methodsOf(scope).getAnimations, scope, []).filter(
        (/** @type {Animation} */ each) => each.playState === 'running',
      );
    let animations = moving();
    for (let round = 0; animations.length > 0 && round < MAX_ROUNDS; round += 1) {
      const late = animations.filter(isLate);
      animations.filter((each) => !isLate(each)).forEach(end);
      // One that begins late may take a message away, as a timer does that is set for later. All are looked at together:
      // between changes each look would have the page laid out again.
      const seen = late.filter(isSeen);
      late.forEach(end);
      for (const each of seen.filter((one) => !isSeen(one))) each.cancel();
      done += animations.length;
      animations = moving();
    }
    // The clock of an SVG is also that of what use shows in it. One within another has a clock of its own.
    const timers = find(scope, TIMED).length > 0 ? find(scope, `svg:has(${TIMED},use)`) : [];
    for (const svg of timers) {
      if (!(svg instanceof SVGSVGElement) || svg.animationsPaused()) continue;
      for (const each of svg.querySelectorAll(ENDLESS)) {
        if (each instanceof SVGElement && each.ownerSVGElement === svg) each.remove();
      }
      svg.pauseAnimations();
      svg.setCurrentTime(SVG_SECONDS);
      done += 1;
    }
    const sheets = scope.adoptedStyleSheets;
    if (find(scope, 'use,:focus').length > 0 && !(still && sheets.includes(still))) {
      still ??= new CSSStyleSheet();
      still.replaceSync(STILL);
      sheets.push(still);
      done += 1;
    }
    // Chrome draws a bar without a value by the time, unless it has a style of its own.
    for (const bar of find(scope, 'progress:indeterminate')) {
      if (getComputedStyle(bar).appearance !== 'none') bar.value = 0;
    }
    return done;
  };
  /**
   * Finite animations and transitions that run are brought to their end. Those without an end, those that go by scrolling
   * and those that begin late and take their element away are cancelled, so that it stands as its own style says. Those of
   * SVG stand still. What the page paused is left as it is.
   * @returns {number} how many were brought to their end; 0 when asked again means that nothing moves
   */
  const finish = (all = scopes()) => all.reduce((done, scope) => done + finishIn(scope), 0);

  const MarginRule = Reflect.get(globalThis, 'CSSMarginRule');
  /**
   * The fonts of margin boxes: Chrome looks for these only when it prints.
   * @type {(rule: any, ofPage?: string) => string[]} of a rule or a style sheet
   */
  const marginFonts = (rule, ofPage) => {
    if (rule instanceof CSSStyleRule) return [];
    const family = rule.style?.fontFamily || ofPage;
    if (rule instanceof MarginRule) return family ? [family] : [];
    const inherited = rule instanceof CSSPageRule ? family : undefined;
    try {
      return [...(rule.cssRules ?? [])].flatMap((each) => marginFonts(each, inherited));
    } catch {
      // Nobody may read the rules of another origin.
      return [];
    }
  };

  /** @type {HTMLImageElement[]} */
  const kept = [];
  /**
   * Resolves when fonts and images are there. No timers: they rest where scripts are off.
   * @returns the milliseconds of both, the addresses of images that cannot be shown, and `isBeyondLatin`
   */
  const complete = async () => {
    const all = scopes();
    finish(all);
    const started = performance.now();
    const fonts = own('fonts');
    // Those below the first screen would stay empty.
    const lazy = find(document, '[loading=lazy]');
    for (const each of lazy) each.loading = 'eager';
    const named = [...own('styleSheets')].flatMap((sheet) => marginFonts(sheet));
    await Promise.allSettled(named.map((family) => fonts.load(`1em ${family}`)));
    await fonts.ready;
    const withFonts = performance.now();
    const broken = new Set();
    /** @param {HTMLImageElement} image */
    const decode = (image) =>
      image.decode().catch(() => {
        const { complete: isOver, currentSrc } = image;
        if (isOver && currentSrc !== '') broken.add(currentSrc.slice(0, MAX_URL_LENGTH));
      });
    // One that has come and has a size can be shown. Printing would decode it once more.
    const isThere = (/** @type {HTMLImageElement} */ image) =>
      image.complete && image.naturalWidth > 0;
    const others = find(document, 'img').filter((image) => !isThere(image));
    await Promise.all(others.map(decode));
    await fonts.ready;
    // Chrome still takes images whose `loading` was changed for images to load when it prints, and waits two seconds for
    // the end of a load that does not come. It finds one more then, which is in no document and ends at once. Its
    // address is always another: what was loaded before is not loaded.
    if (lazy.length > 0) {
      const src = `data:image/gif;n=${Math.random()};base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=`;
      kept.push(Object.assign(new Image(), { loading: 'lazy', src }));
    }
    return {
      fonts: withFonts - started,
      images: performance.now() - withFonts,
      broken: [...broken].slice(0, MAX_BROKEN),
      isBeyondLatin: all.some(isBeyondLatin),
    };
  };
  const BEYOND_LATIN = /[^\s -\u024f\u2000-\u206f\u20a0-\u20cf]/;
  /** @param {string} language */
  const isLatin = (language) => {
    try {
      return new Intl.Locale(language).maximize().script === 'Latn';
    } catch {
      return language === '';
    }
  };
  /**
   * True if Chrome may have looked for fonts beyond those for Latin letters: the text, also what lies beside the paper,
   * has other characters, or an element names a language of another script.
   * @param {Document | ShadowRoot} scope
   */
  const isBeyondLatin = (scope) => {
    // A script may have removed the root.
    const node = scope === document ? own('documentElement') : scope;
    const text = node && own('textContent', node, Node.prototype);
    // Elements of SVG have no property of that name.
    const languages = find(scope, '[lang]').map((each) =>
      Element.prototype.getAttribute.call(each, 'lang'),
    );
    return BEYOND_LATIN.test(text ?? '') || !languages.every((each) => isLatin(each ?? ''));
  };
  /** Names what a wait for `complete` that was given up still lacked. */
  const lacking = () => {
    if (own('fonts').status === 'loading') return 'fonts';
    return find(document, 'img').some((image) => !image.complete) ? 'images' : 'drawing';
  };

  /** @param {string} selector */
  const has = (selector) => {
    try {
      return Document.prototype.querySelector.call(document, selector) !== null;
    } catch {
      return 'invalid';
    }
  };

  /** @param {number} characters the most that are wanted of the title */
  const title = (characters) => `${own('title') ?? ''}`.slice(0, characters);

  /** False if Chrome takes its own language for that of the page. */
  const namesLanguage = () => has(':root[lang], meta[http-equiv="content-language" i]');

  /**
   * The template of a header or footer with the date written into it, where Chrome would write the time of printing.
   * @type {(template: string, date: string) => string}
   */
  const dated = (template, date) => {
    const parsed = new DOMParser().parseFromString(template, 'text/html');
    const places = parsed.querySelectorAll('.date');
    if (places.length === 0) return template;
    for (const each of places) {
      each.classList.remove('date');
      each.textContent = date;
    }
    return `${parsed.head.innerHTML}${parsed.body.innerHTML}`;
  };

  /** @type {CSSStyleSheet[]} */
  let added = [];
  /** True if the page leaves the choice of its colours to the reader. */
  const leavesColours = () => {
    const root = own('documentElement');
    const chosen = root ? getComputedStyle(root).colorScheme : '';
    const [meta] = chosen === 'normal' ? find(document, 'meta[name=color-scheme i]') : [];
    const schemes = `${meta?.content ?? chosen}`.toLowerCase().split(/\s+/);
    return schemes.includes('light') && schemes.includes('dark');
  };
  /**
   * Adds style sheets behind those of the page, whose content security policy does not stop them.
   * @param {string[]} texts
   * @param {string} scheme the colours that are preferred; empty: those of Chrome. For paper Chrome would take the light ones
   * @returns {boolean} false if the page has them
   */
  const style = (texts, scheme) => {
    const sheets = own('adoptedStyleSheets');
    if (added.length > 0 && added.every((each) => sheets.includes(each))) return false;
    const colours =
      scheme !== '' && leavesColours() ? `:root{color-scheme:${scheme}!important}` : '';
    // Each is one of its own: a text that is not well formed takes nothing of the next one along.
    added = [...texts, colours].map((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return sheet;
    });
    sheets.push(...added);
    // Images are asked for when their elements get their style.
    own('documentElement')?.getBoundingClientRect();
    return true;
  };
  const PICTURES = 'img,svg,canvas,video,iframe,object,embed,input,textarea,select,button,hr';
  /** The size of the document, and the lower edge of its last text or picture. */
  const extent = () => {
    const root = own('documentElement');
    const { scrollWidth: width = 0, scrollHeight: height = 0 } = root ?? {};
    let bottom = 0;
    /** @param {DOMRect} box */
    const take = (box) => {
      if (box.width > 0 && box.height > 0) bottom = Math.max(bottom, box.bottom + scrollY);
    };
    const texts =
      root && Document.prototype.createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
    const range = new Range();
    for (let text = texts?.nextNode(); text; text = texts?.nextNode()) {
      if (`${text.nodeValue}`.trim() === '') continue;
      range.selectNodeContents(text);
      take(range.getBoundingClientRect());
    }
    for (const each of find(document, PICTURES)) {
      take(Element.prototype.getBoundingClientRect.call(each));
    }
    return { width, height, bottom };
  };

  const asked = { complete, lacking, dated, has, title, namesLanguage, style, extent };
  const settle = { clock, frames, screens, scroll, rest, finish, ...asked, own, find, scopes };
  Object.assign(globalThis, { settle });
})();
