/** What the service's clients send and read: the shapes of `docs/interface.md` as types. */

export interface ConversionOptions {
  html?: string;
  url?: string;
  page_size?: 'A4' | 'Letter' | 'Legal' | 'A3' | 'A5';
  landscape?: boolean;
  margin_top?: string;
  margin_right?: string;
  margin_bottom?: string;
  margin_left?: string;
  print_background?: boolean;
  /** 0.1 to 2 */
  scale?: number;
  page_ranges?: string;
  header_html?: string;
  footer_html?: string;
  prefer_css_page_size?: boolean;
  media?: 'print' | 'screen';
  wait_for?: { selector?: string; delay_ms?: number; network_idle?: boolean };
  tagged?: boolean;
  outline?: boolean;
  metadata?: { title?: string; author?: string; subject?: string; keywords?: string[] };
  /** For a `url` only. */
  headers?: Record<string, string>;
  /** For a `url` only. */
  cookies?: {
    name: string;
    value: string;
    domain?: string;
    path?: string;
    secure?: boolean;
    http_only?: boolean;
    same_site?: 'Strict' | 'Lax' | 'None';
  }[];
  javascript?: boolean;
}

/** Times are ISO 8601 in UTC. */
export interface Conversion {
  id: string;
  status: 'pending' | 'processing' | 'completed' | 'failed';
  created_at: string;
  /** Only when completed. */
  file_url?: string;
  completed_at?: string;
  /** Only when failed. */
  error_message?: string;
}

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  created_at: string;
  last_used_at: string | null;
}

export interface NewApiKey {
  id: string;
  name: string;
  /** The full key: shown this once. */
  key: string;
  created_at: string;
}
