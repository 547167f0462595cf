/** Chrome's command line: our own flags only, none of a library's defaults. */
export interface FlagOptions {
  /** The port of a proxy on loopback for tabs that have none of their own; default: nobody listens there. */
  readonly proxyPort?: number;
  readonly sandbox: boolean;
  /** Has frames drawn on command only, in targets that ask for it. Only a headless shell can. */
  readonly framesOnCommand?: boolean;
}

export const FRAMES_ON_COMMAND = '--enable-begin-frame-control';

export function chromeFlags({
  proxyPort = 9,
  sandbox,
  framesOnCommand = false,
}: FlagOptions): string[] {
  return [
    '--headless',
    ...(sandbox ? [] : ['--no-sandbox']),

    // Nothing leaves but through the proxy. Without `<-loopback>` loopback and link-local go direct.
    `--proxy-server=127.0.0.1:${proxyPort}`,
    '--proxy-bypass-list=<-loopback>',
    // WebRTC would send UDP past the proxy. Only the first spelling had an effect when measured.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    '--dns-prefetch-disable',
    '--no-pings',

    // Chrome itself has nothing to say to anyone.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-component-extensions-with-background-pages',
    '--disable-client-side-phishing-detection',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--disable-search-engine-choice-screen',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--metrics-recording-only',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-service-autorun',
    '--password-store=basic',
    '--use-mock-keychain',
    `--disable-features=${[
      'AcceptCHFrame',
      'AutofillServerCommunication',
      // A page that was left is gone, not kept for a way back.
      'BackForwardCache',
      'CertificateTransparencyComponentUpdater',
      'DialMediaRouteProvider',
      'GlobalMediaControls',
      'HttpsUpgrades',
      'InterestFeedContentSuggestions',
      'MediaRouter',
      'OptimizationHints',
      'PaintHolding',
      // A new frame host for each document of a warm tab, a third of what the document costs.
      'RenderDocument',
      // The next tab's process is started by us, when its time has come.
      'SpareRendererForSitePerProcess',
      'Translate',
      // A full Chrome opens two pages of its own beside each tab, 45 MB each, for an address bar that nobody sees.
      'WebUIOmniboxAimPopup',
      'WebUIOmniboxPopup',
    ].join(',')}`,

    // A page that renders must never be slowed down as if nobody looked at it.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-hang-monitor',

    // These are of no use to a document on paper.
    '--block-new-web-contents',
    '--disable-gpu',
    '--disable-notifications',
    // A page of a full Chrome that calls `print()` could not be printed while its preview is open.
    '--disable-print-preview',
    '--disable-prompt-on-repost',
    '--disable-speech-api',
    '--mute-audio',

    // Containers often have 64 MB of shared memory, too little for large pages.
    '--disable-dev-shm-usage',
    '--font-render-hinting=none',
    '--hide-scrollbars',
    // Scripts see where their window is: a full Chrome puts each elsewhere.
    '--window-position=0,0',
    // A command is answered when all of its frame has been drawn.
    ...(framesOnCommand ? [FRAMES_ON_COMMAND, '--run-all-compositor-stages-before-draw'] : []),
    '--force-color-profile=srgb',
  ];
}
