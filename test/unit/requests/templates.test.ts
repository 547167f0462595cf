import { test } from 'tap';
import { checkTemplate } from '../../../src/requests/html.ts';
import { ValidationIssues } from '../../../src/requests/validation.ts';

function isRefused(template: string): boolean {
  const issues = new ValidationIssues();
  checkTemplate(issues, 'header_html', template);
  return issues.has('header_html');
}

void test('a header or footer that would load something is refused, however it is written', (t) => {
  const loading = [
    '<img src="https://example.com/logo.png">',
    '<IMG SRC=//example.com/logo.png>',
    '<img src=logo.png>',
    '<img src="file:///etc/passwd">',
    '<img srcset="data:,x 1x" src="a.png">',
    '<picture><source srcset="https://example.com/a 2x"></picture>',
    '<link rel=stylesheet href="https://example.com/a.css">',
    '<link rel=preload as=font href="https://example.com/a.woff2">',
    '<style>@import "https://example.com/a.css";</style>',
    '<style>@IMPORT url(https://example.com/a.css);</style>',
    '<style><!-- @import "https://example.com/a.css"; --></style>',
    '<style>@im\\70ort "https://example.com/a.css";</style>',
    '<style>@im\\port "https://example.com/a.css";</style>',
    '<style>/*" */@import "https://example.com/a.css";</style>',
    '<style>@font-face{font-family:x;src:url(https://example.com/a.woff2)}</style>',
    '<style>@font-face{font-family:x;src:u\\72l( "https://example.com/a.woff2")}</style>',
    '<style>@font-face{font-family:x;src:url(data:font/woff2,x),url(//example.com/a)}</style>',
    '<svg><style>@&#105;mport "https://example.com/a.css";</style></svg>',
    '<svg><style><![CDATA[@import "https://example.com/a.css";]]></style></svg>',
    '<svg><use href="https://example.com/a.svg#x"/><image xlink:href="a.png"/></svg>',
    '<template shadowrootmode=open><style>@import "https://example.com/a";</style></template>',
    '<b style="background:url(https://example.com/a.png)">x</b>',
    `<b style='background:image-set("https://example.com/a.png" 1x)'>x</b>`,
    '<iframe src="https://example.com/"></iframe>',
    '<object data="https://example.com/a"></object>',
    '<video poster="https://example.com/a"></video>',
  ];
  for (const template of loading) t.ok(isRefused(template), template);
  t.end();
});

void test('one that brings everything with it is taken', (t) => {
  const whole = [
    '<span class="pageNumber"></span> of <span class="totalPages"></span>',
    '<a href="https://example.com/">our site</a> <a href="mailto:a@example.com">mail</a>',
    '<style>b{color:red;content:"\\201C"}/* a note */</style><b>x</b>',
    '<img src="data:image/png;base64,AAAA"><b style="background:url(#gradient)">x</b>',
    `<style>@font-face{font-family:x;src:url("data:font/woff2;base64,AAAA")}</style>`,
    '<svg><defs><g id=a></g></defs><use href="#a"/></svg>',
    'Visit url(acme), or @import what you like',
    'plain text, import duty, and a URL: https://example.com/',
  ];
  for (const template of whole) t.notOk(isRefused(template), template);
  t.end();
});
