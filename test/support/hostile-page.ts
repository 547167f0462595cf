/**
 * A page that tries to reach an address in every way that a page has. Each way asks for a path of its
 * own, so that a listener can tell which ones got through.
 */

/** @returns the address to try; `scheme` is http or ws or what else the way needs */
export type TargetOf = (way: string, scheme?: string) => string;
type Way = (url: string, to: TargetOf, way: string) => string;

/**
 * Where `/redirect?to=`, `/sw.js` and the page itself are served. A secure context without TLS, so that
 * service workers, worklets and WebTransport are there.
 */
export const PAGE_ORIGIN = 'http://hostile.localhost';

const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const inFrame = (html: string): string => `<iframe srcdoc="${attribute(html)}"></iframe>`;
const redirect = (url: string): string => `${PAGE_ORIGIN}/redirect?to=${encodeURIComponent(url)}`;

const MARKUP: Readonly<Record<string, Way>> = {
  img: (u) => `<img src="${u}">`,
  srcset: (u) => `<img srcset="${u} 1x">`,
  picture: (u) => `<picture><source srcset="${u}"><img alt=""></picture>`,
  'lazy-img': (u) => `<img loading="lazy" src="${u}">`,
  'https-img': (_u, to, way) => `<img src="${to(way, 'https')}">`,
  'redirected-img': (u) => `<img src="${redirect(u)}">`,
  'redirected-frame': (u) => `<iframe src="${redirect(u)}"></iframe>`,
  iframe: (u) => `<iframe src="${u}"></iframe>`,
  'nested-frame': (u) => inFrame(`<iframe src="${u}"></iframe>`),
  'sandboxed-frame': (u) => `<iframe sandbox="allow-scripts" src="${u}"></iframe>`,
  object: (u) => `<object data="${u}"></object>`,
  embed: (u) => `<embed src="${u}">`,
  'input-image': (u) => `<input type="image" src="${u}">`,
  'body-background': (u) => inFrame(`<body background="${u}">x`),
  video: (u) => `<video preload="auto" src="${u}"></video>`,
  poster: (u) => `<video poster="${u}"></video>`,
  audio: (u) => `<audio preload="auto" src="${u}"></audio>`,
  source: (u) => `<video preload="auto"><source src="${u}"></video>`,
  track: (u) =>
    `<video preload="auto" src="data:video/mp4,x" crossorigin><track default kind="captions" src="${u}"></video>`,
  stylesheet: (u) => `<link rel="stylesheet" href="${u}">`,
  'css-import': (u) => `<style>@import url("${u}");</style>`,
  'css-background': (u) => `<div style="background:url('${u}');width:9px;height:9px"></div>`,
  'css-content': (u) => `<style>#content::before{content:url("${u}")}</style><p id="content">x</p>`,
  'css-mask': (u) => `<p style="mask-image:url('${u}')">x</p>`,
  'css-list': (u) => `<ul><li style="list-style-image:url('${u}')">x</ul>`,
  'css-cursor': (u) => `<p style="cursor:url('${u}'),auto">x</p>`,
  'css-image-set': (u) => `<p style="background-image:image-set('${u}' 1x)">x</p>`,
  'css-print': (u) => `<style>@media print{#p{background:url("${u}")}}</style><p id="p">x</p>`,
  font: (u) =>
    `<style>@font-face{font-family:f;src:url("${u}")}</style><p style="font-family:f">x</p>`,
  'svg-image': (u) => `<svg><image href="${u}" width="9" height="9"/></svg>`,
  'svg-xlink': (u) => `<svg><image xlink:href="${u}" width="9" height="9"/></svg>`,
  'svg-use': (u) => `<svg><use href="${u}#a"/></svg>`,
  'svg-filter': (u) =>
    `<svg><filter id="f"><feImage href="${u}"/></filter><rect width="9" height="9" filter="url(#f)"/></svg>`,
  script: (u) => `<script src="${u}"></script>`,
  'module-script': (u) => `<script type="module" src="${u}"></script>`,
  'module-import': (u) => `<script type="module">import "${u}"</script>`,
  modulepreload: (u) => `<link rel="modulepreload" href="${u}">`,
  preload: (u) => `<link rel="preload" as="image" href="${u}">`,
  prefetch: (u) => `<link rel="prefetch" href="${u}">`,
  prerender: (u) => `<link rel="prerender" href="${u}">`,
  preconnect: (u) => `<link rel="preconnect" href="${u}">`,
  'dns-prefetch': (u) => `<link rel="dns-prefetch" href="${u}">`,
  icon: (u) => `<link rel="icon" href="${u}">`,
  manifest: (u) => `<link rel="manifest" href="${u}">`,
  'speculation-rules': (u) => {
    const rule = { urls: [u, redirect(u)], eagerness: 'immediate' };
    const rules = JSON.stringify({ prefetch: [rule], prerender: [rule] });
    return `<script type="speculationrules">${rules}</script>`;
  },
  'meta-refresh': (u) => inFrame(`<meta http-equiv="refresh" content="0;url=${u}">`),
  'form-get': (u) =>
    inFrame(`<form action="${u}"></form><script>document.forms[0].submit()</script>`),
  'form-post': (u) =>
    inFrame(
      `<form method="post" action="${u}"><input name="a" value="b"></form><script>document.forms[0].submit()</script>`,
    ),
  'frame-location': (u) => inFrame(`<script>location = "${u}"</script>`),
  'csp-report': (u) =>
    inFrame(
      `<script>try{new ReportingObserver(()=>{}).observe()}catch{}</script><iframe csp="default-src 'none'" src="${u}"></iframe>`,
    ),
  download: (u) =>
    inFrame(
      `<a id="a" download="f" href="${u}">x</a><script>document.getElementById('a').click()</script>`,
    ),
  ping: (u) =>
    `<a id="ping" ping="${u}" href="#x">x</a><script>document.getElementById('ping').click()</script>`,
};

const SCRIPT: Readonly<Record<string, Way>> = {
  fetch: (u) => `fetch('${u}')`,
  'fetch-no-cors': (u) => `fetch('${u}',{mode:'no-cors',method:'POST',body:'x'})`,
  'fetch-keepalive': (u) => `fetch('${u}',{mode:'no-cors',keepalive:true})`,
  'fetch-redirected': (u) => `fetch('${redirect(u)}',{mode:'no-cors'})`,
  'fetch-later': (u) => `fetchLater('${u}',{activateAfter:0})`,
  xhr: (u) => `const x=new XMLHttpRequest();x.open('GET','${u}');x.send()`,
  'xhr-sync': (u) => `const x=new XMLHttpRequest();x.open('GET','${u}',false);x.send()`,
  beacon: (u) => `navigator.sendBeacon('${u}','x')`,
  'event-source': (u) => `new EventSource('${u}')`,
  'web-socket': (_u, to, way) => `new WebSocket('${to(way, 'ws')}')`,
  'web-socket-tls': (_u, to, way) => `new WebSocket('${to(way, 'wss')}')`,
  'web-transport': (_u, to, way) => `new WebTransport('${to(way, 'https')}')`,
  'dynamic-import': (u) => `import('${u}')`,
  'image-object': (u) => `new Image().src='${u}'`,
  'audio-object': (u) => `new Audio('${u}').load()`,
  'font-face': (u) => `new FontFace('g','url(${u})').load()`,
  'audio-worklet': (u) => `new OfflineAudioContext(1,1,44100).audioWorklet.addModule('${u}')`,
  'paint-worklet': (u) => `CSS.paintWorklet.addModule('${u}')`,
  popup: (u) => `open('${u}')`,
  'popup-noopener': (u) => `open('${u}','_blank','noopener')`,
  'blank-link': (u) =>
    `const a=document.createElement('a');a.target='_blank';a.href='${u}';document.body.append(a);a.click()`,
  worker: (u) => inBlob(`importScripts('${u}')`, 'new Worker(b)'),
  'worker-fetch': (u) => inBlob(`fetch('${u}',{mode:'no-cors'})`, 'new Worker(b)'),
  'worker-web-socket': (_u, to, way) =>
    inBlob(`new WebSocket('${to(way, 'ws')}')`, 'new Worker(b)'),
  'module-worker': (u) => inBlob(`import '${u}'`, "new Worker(b,{type:'module'})"),
  'shared-worker': (u) => inBlob(`fetch('${u}',{mode:'no-cors'})`, 'new SharedWorker(b)'),
  'shared-worker-socket': (_u, to, way) =>
    inBlob(`new WebSocket('${to(way, 'ws')}')`, 'new SharedWorker(b)'),
  'service-worker': (u) =>
    `navigator.serviceWorker.register('/sw.js?to=${encodeURIComponent(u)}',{scope:'/sw/'})`,
  'webrtc-stun': (_u, to, way) => peer(`stun:${new URL(to(way)).host}`),
  'webrtc-turn-udp': (_u, to, way) => peer(`turn:${new URL(to(way)).host}?transport=udp`),
  'webrtc-turn-tcp': (_u, to, way) => peer(`turn:${new URL(to(way)).host}?transport=tcp`),
  'webrtc-candidate': (_u, to, way) => candidate(new URL(to(way)).port),
};

const inBlob = (code: string, use: string): string =>
  `const b=URL.createObjectURL(new Blob([${JSON.stringify(code)}],{type:'text/javascript'}));${use}`;

const peer = (server: string): string =>
  `const p=new RTCPeerConnection({iceServers:[{urls:'${server}',username:'a',credential:'b'}]});
   p.createDataChannel('c');p.createOffer().then((o)=>p.setLocalDescription(o));(window.keep??=[]).push(p)`;

/** Two ends in one page; the second is told a private address, and checks the way to it. */
const candidate = (port: string): string =>
  `const a=new RTCPeerConnection(),b=new RTCPeerConnection();(window.keep??=[]).push(a,b);
   a.createDataChannel('c');
   (async()=>{await a.setLocalDescription(await a.createOffer());await b.setRemoteDescription(a.localDescription);
   await b.setLocalDescription(await b.createAnswer());await a.setRemoteDescription(b.localDescription);
   for(const [kind,type] of [['udp',''],['tcp',' tcptype passive']])
   await a.addIceCandidate({candidate:'candidate:1 1 '+kind+' 2122260223 127.0.0.1 ${port} typ host'+type,sdpMid:'0'})})()`;

export const WAYS: readonly string[] = [...Object.keys(MARKUP), ...Object.keys(SCRIPT)];

/** How long the page goes on trying, in milliseconds; then its title is `tried`. */
const TRYING_MS = 2_500;

export function hostilePage(to: TargetOf): string {
  const markup = Object.entries(MARKUP).map(([way, make]) => make(to(way), to, way));
  const scripts = Object.entries(SCRIPT).map(
    ([way, make]) => `<script>(async()=>{${make(to(way), to, way)}})().catch(()=>{})</script>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>trying</title><body>${markup.join('\n')}
${scripts.join('\n')}
<script>setTimeout(() => { document.title = 'tried' }, ${TRYING_MS})</script>`;
}

/** The service worker: it asks for the address itself when it is installed. */
export const serviceWorker = (to: string): string =>
  `oninstall=(e)=>e.waitUntil(fetch(${JSON.stringify(to)},{mode:'no-cors'}).catch(()=>{}))`;
