/**
 * The parts that random documents are put together from, by theme. They use the same names for different things
 * (`own`, `move`, `x-card`), so that what one document leaves is seen in the next.
 */
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { fontUri } from './tiny-font.ts';
import { AVIF, bmp, gif, JPEG, png, svg, WEBP } from './tiny-images.ts';

type Place = 'doctype' | 'html' | 'head' | 'body' | 'content' | 'end';
export type Part =
  | { readonly place: Place; readonly text: string }
  | { readonly options: Partial<PrintOptions> }
  | { readonly request: Partial<RequestDocument> };

export const at =
  (place: Place) =>
  (text: string): Part => ({ place, text });
export const head = at('head');
export const content = at('content');
const style = (css: string): Part => head(`<style>${css}</style>`);
export const script = (code: string): Part => ({ place: 'end', text: `<script>${code}</script>` });
export const option = (options: Partial<PrintOptions>): Part => ({ options });
export const request = (more: Partial<RequestDocument>): Part => ({ request: more });

/** Each document has at most one of them, and half of all documents one. */
export const DOCTYPES = [
  '<!doctype html>',
  '<!doctype html>',
  '<!DOCTYPE html>\n',
  '\uFEFF<!doctype html>',
  '<!doctype html public "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
  '<!doctype html public "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
  '<!doctype html public "-//W3C//DTD HTML 3.2 Final//EN">',
].map(at('doctype'));

const face = (family: string, advance: number, height: number, more = ''): Part =>
  style(
    `@font-face { font-family: own; src: url(${fontUri(family, { advance, height })}); ${more} }`,
  );
const image = (source: string, more = ''): Part => content(`<img alt=i src='${source}' ${more}>`);
// A caret that blinks is on paper or not by chance.
const FOCUSES = /autofocus|focus\(|select\(|show(?:Modal|Popover)/;
const NO_CARET = '<style>* { caret-color: transparent !important }</style>';
const RED = [200, 0, 0] as const;
const GREEN = [0, 160, 0] as const;
const SMIL = svg(
  '<rect width="40" height="40" fill="#c00"><set attributeName="fill" to="#00c" begin="2s"/></rect>',
);
const STYLED = svg(
  '<style>rect{fill:red}@media(min-width:50px){rect{fill:green}}@media print{rect{stroke:blue}}</style><rect width="40" height="40"/>',
);

export const THEMES: Readonly<Record<string, readonly Part[]>> = {
  attributes: [
    ...[' lang=en', ' dir=rtl', ' class=own', ' style="font-size:20px"', ' lang=de-AT'].map(
      at('html'),
    ),
    ...[
      ' link=red vlink=lime alink=red',
      ' text=blue',
      ' bgcolor=#eee',
      ' style="zoom:1.5"',
      ' topmargin=40 leftmargin=40',
      ` background="${png(8, 8, RED)}"`,
      ' dir=rtl class=own',
      ' onload="title=7" onresize="append(7)"',
    ].map(at('body')),
    head('<meta http-equiv=default-style content=b>'),
    head('<meta name=viewport content="width=300">'),
    head('<meta name=color-scheme content=dark>'),
    head('<meta http-equiv=content-language content=ja>'),
    head('<base href="https://example.com/own/" target=_blank>'),
    content('<p><a href="there">relative</a>'),
  ],
  text: [
    '<div style="width:100;height:40;color:ff0000;border:1px solid">unitless</div>',
    '<p><a href="https://example.com/a">link</a> <a href="#there">there</a></p>',
    '<p id=there class=own>there</p>',
    '<table border=1 width=300 cellpadding=4><tr><td>cell<td bgcolor=yellow>cell</table>',
    '<p style="position:fixed;bottom:0">fixed</p>',
    '<ol start=3><li>a<li>b</ol><details open><summary>s</summary>more</details>',
    '<svg width=50 height=20><linearGradient id=own><stop stop-color=red /></linearGradient><rect width=50 height=20 fill="url(#own)"/></svg>',
    '<svg width=50 height=20><linearGradient id=own><stop stop-color=blue /></linearGradient><rect width=50 height=20 fill="url(#own)"/></svg>',
    '<svg width=50 height=20><use href="#own" /><rect width=20 height=20 style="fill:url(#own) lime"/></svg>',
    '<h1>Title</h1><p style="break-after:page">page</p><p>next</p>',
    '<p style="columns:3;hyphens:auto" lang=en>Representatives of unquestionable understanding communicate</p>',
    '<font face=own size=5 color=teal>font</font><center>center</center><hr noshade width=50%>',
    '<b>unclosed <i>nested</b> wrongly</i>',
    '<p style="white-space:pre">a\tb\n  c</p><pre>\n\nlines</pre>',
    '<div style="height:1500px;border:1px solid">tall</div>',
    '<math><mfrac><mi>a</mi><msqrt><mn>2</mn></msqrt></mfrac></math>',
  ].map(content),
  rules: [
    style('p { width: 200; color: 0000ff; margin: 1em }'),
    style('* { --own: red } p { color: var(--own) }'),
    style('p { color: var(--own, green); background: attr(class) }'),
    style('@page { size: A5; margin: 3cm } @page own { size: landscape } div { page: own }'),
    style('@page :first { margin: 0; @top-left { content: counter(page) } }'),
    style('h1, p { counter-increment: own } p::before { content: counter(own) " " }'),
    style('@layer a, b; @layer a { p { color: red } } @layer b { p { color: blue } }'),
    style('@layer b, a; @layer b { p { color: red } } @layer a { p { color: blue } }'),
    style(
      '@property --own { syntax: "<color>"; inherits: false; initial-value: teal } p { color: var(--own) }',
    ),
    style(
      '@property --own { syntax: "<length>"; inherits: true; initial-value: 40px } p { margin-left: var(--own) }',
    ),
    style(
      '@counter-style own { system: cyclic; symbols: "*" "+"; suffix: " " } ol { list-style: own }',
    ),
    style(
      '@counter-style own { system: fixed; symbols: A B; suffix: ") " } ol { list-style: own }',
    ),
    style('a:visited { color: lime } a:link { color: maroon } :target { outline: 2px solid }'),
    head('<style media=screen>p { display: none }</style>'),
    head('<style title=a>p { text-decoration: underline }</style>'),
    head('<style title=b>p { text-transform: uppercase }</style>'),
    head('<link rel=stylesheet href="data:text/css,p{letter-spacing:3px}">'),
    head('<link rel="alternate stylesheet" title=b href="data:text/css,p{word-spacing:9px}">'),
    style('@import url("data:text/css,p{border:1px dotted}");'),
    style('@scope (.own) { p { color: brown } } @container (width > 300px) { p { color: olive } }'),
    style(':root { color-scheme: dark; accent-color: red } @view-transition { navigation: auto }'),
    style('html { writing-mode: vertical-rl }'),
    head('<meta http-equiv=content-security-policy content="style-src-attr \'none\'">'),
  ],
  images: [
    image(png(24, 16, RED)),
    image(png(24, 16, GREEN), 'width=100 align=right'),
    image(JPEG, 'style="image-rendering:pixelated;width:90px"'),
    image(WEBP),
    image(AVIF, 'loading=lazy decoding=async'),
    image(bmp(GREEN), 'width=30 height=30'),
    image(gif([RED, GREEN], 90, true), 'width=30'),
    image(gif([GREEN, RED], 90, false), 'width=30'),
    image(SMIL),
    image(STYLED),
    image(STYLED, 'width=80'),
    image('data:image/png;base64,broken', 'width=30'),
    content(
      `<picture><source media=print srcset="${png(9, 9, GREEN)}"><img src="${png(9, 9, RED)}"></picture>`,
    ),
    content(`<img srcset="${png(20, 20, RED)} 1x, ${png(40, 40, GREEN)} 2x">`),
    content(`<div style="height:300px;background:url(${png(12, 12, GREEN)})">background</div>`),
    style(`li { list-style-image: url(${png(9, 9, RED)}) } p::after { content: url(${WEBP}) }`),
    style(
      `div { border: 9px solid; border-image: url('${svg('<rect width="40" height="40"/>')}') 9 }`,
    ),
    style(`p { mask: linear-gradient(#000, #0008); background: image-set("${JPEG}" 1x) }`),
    content(`<svg width=60 height=40><image href="${JPEG}" width=50 /></svg>`),
    content(`<object data="${png(30, 9, RED)}">object</object><video poster="${JPEG}"></video>`),
  ],
  fonts: [
    face('First', 300, 300),
    face('Second', 600, 700),
    face('Third', 450, 100, 'unicode-range: U+61-6A'),
    face('Fourth', 450, 900, 'font-weight: bold; size-adjust: 150%'),
    face('Fifth', 450, 500, 'font-display: swap; ascent-override: 200%'),
    style(
      '@font-face { font-family: own; src: local("Liberation Mono"), local("DejaVu Sans Mono") }',
    ),
    style('@font-face { font-family: own; src: url(data:font/ttf;base64,broken) }'),
    style('* { font-family: own, serif }'),
    content('<p style="font-family:own">in a font of its own <b>and bold</b></p>'),
    content('<svg width=90 height=30><text y=20 font-family=own>SVG</text></svg>'),
    content(
      '<p style="font:italic 20px own, sans-serif; font-feature-settings: \'smcp\'">Italic</p>',
    ),
    script(
      `new FontFace('own', 'url(${fontUri('Sixth', { advance: 900, height: 300 })})').load().then((f) => document.fonts.add(f))`,
    ),
  ],
  forms: [
    '<input autofocus value=focused>',
    '<input type=checkbox checked><input type=radio name=own checked><input type=radio name=own>',
    '<input name=typed id=typed><script>typed.value = "typed"; typed.select()</script>',
    '<input name=typed placeholder=placeholder required>',
    '<select><option>one<option selected>two</select><select multiple><option selected>a<option>b</select>',
    '<textarea rows=3 name=typed>text</textarea><textarea autofocus>focused</textarea>',
    '<input type=date value=2026-01-02><input type=color value="#ff0000"><input type=range value=80>',
    '<progress value=.3></progress><meter value=.7></meter><output>out</output>',
    '<fieldset disabled><legend>legend</legend><button>button</button><input value=off></fieldset>',
    '<dialog open>dialog</dialog><div popover id=pop>popover</div><button popovertarget=pop>p</button>',
    '<form id=own action="https://example.com/"><input type=submit><input type=image></form>',
    '<div contenteditable autofocus>editable</div><input list=l><datalist id=l><option>x</datalist>',
    '<style>:focus { outline: 3px solid red } :focus-visible { background: yellow }</style>',
    '<style>:checked { width: 40px; height: 40px } :invalid { border: 3px solid red }</style>',
    '<script>document.querySelector("input, textarea")?.focus()</script>',
    '<script>document.querySelector("dialog")?.showModal?.()</script>',
    '<script>document.querySelector("[popover]")?.showPopover()</script>',
  ].map((text) => content(FOCUSES.test(text) ? text + NO_CARET : text)),
  motion: [
    style('div, p { transition: all 1s; transform: rotate(3deg) }'),
    style('p { transition: color 9s; color: red; @starting-style { color: blue } }'),
    style('@keyframes move { from { margin-left: 90px } } p { animation: move 9s paused }'),
    style(
      '@keyframes move { to { color: red; font-size: 30px } } p { animation: move 1s -.5s paused }',
    ),
    style('@keyframes move { to { background: lime } } div { animation: move 0s forwards }'),
    style('@keyframes move { 50% { color: blue } } p { animation: move steps(1) 20s infinite }'),
    style('p { animation: move 4s -2s paused linear both } li { animation: move 1s -.2s paused }'),
    style(
      '@keyframes grow { to { width: 9em } } div { animation: grow both; animation-timeline: scroll() }',
    ),
    content('<p style="animation:move 30s steps(2) both;border:1px solid">moves</p>'),
    content(
      '<svg width=60 height=20><rect id=own width=20 height=20><animate attributeName=width to=60 dur=0.01s fill=freeze /></rect></svg>',
    ),
    content(
      '<svg width=60 height=20><circle id=own r=9 cx=9 cy=9><set attributeName=fill to=red begin=0s /></circle></svg>',
    ),
    script('document.body.animate([{ opacity: .5 }, { opacity: .5 }], { duration: 1e6 })'),
    script('document.body.getBoundingClientRect(); document.body.style.color = "red"'),
    script('for (const each of document.getAnimations()) { each.pause(); each.currentTime = 400 }'),
  ],
  options: [
    ...(['A3', 'A5', 'Letter', 'Legal'] as const).map((page_size) => option({ page_size })),
    option({ landscape: true }),
    option({ media: 'screen' }),
    option({ scale: 1.4 }),
    option({ scale: 0.5 }),
    option({ outline: true }),
    option({ tagged: false }),
    option({ print_background: true }),
    option({ prefer_css_page_size: true }),
    option({ margin_top: '3cm', margin_left: '0cm' }),
    option({ margin_right: '2in', margin_bottom: '99px' }),
    option({ page_ranges: '1' }),
    option({ page_ranges: '1-' }),
    request({
      header_html: '<span class=pageNumber></span>/<span class=totalPages></span> <i>head</i>',
    }),
    request({
      header_html: `<style>p, div { color: red } @font-face { font-family: own; src: local("Liberation Mono") }</style><p style="font-family:own">head <img src="${JPEG}">`,
    }),
    request({
      footer_html: '<div style="font-size:12px;width:100%;background:lime" class=title>f</div>',
    }),
    request({ footer_html: '<p class=own lang=en>foot <span class=url></span></p>' }),
    request({ metadata: { title: 'Title', author: 'Ä', keywords: ['a', 'b'] } }),
    request({ wait_for: { selector: 'body' } }),
    request({ wait_for: { delay_ms: 20 } }),
  ],
};
