/** The icons of the pages: strokes on a grid of 24, in the colour of the text beside them. */
const PATHS = {
  home: 'M4 11 12 4l8 7v9h-5v-6H9v6H4z',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  play: 'M7 5v14l11-7z',
  shield: 'M12 3 5 6v5c0 4.5 3 8 7 10 4-2 7-5.5 7-10V6zM9 12l2 2 4-4',
  key: 'M8 19a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM11 12 20 3M16 7l3 3',
  send: 'M4 12 20 4l-4 16-4-7zM12 13l8-9',
  stack: 'M12 3 3 8l9 5 9-5zM3 12.5l9 5 9-5M3 17l9 5 9-5',
  pages: 'M8 3h7l4 4v10H8zM15 3v4h4M8 7H5v14h11v-4',
  grip: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  chart: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  history: 'M4 12a8 8 0 1 0 2.5-5.800L4 8.500M4 4v4.500h4.500M12 8v4l3 2',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.5-6 8-6s8 2 8 6',
  server: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 3-5.5 6.5-5.500s6.5 2 6.5 5.500M16 4.500a3.5 3.5 0 0 1 0 6.500M18 14.800c2.200.7 3.5 2.5 3.5 5.200',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01',
  signOut: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17.5 19 7',
  cross: 'M7 7l10 10M17 7 7 17',
  clock: 'M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.500V12l3 2',
  progress: 'M12 3.500a8.5 8.5 0 1 1-8.5 8.5',
  warning: 'M12 4 2.5 20h19zM12 10v4.500M12 17.200h.01',
  info: 'M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 11v5M12 8h.01',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  refresh: 'M20 12a8 8 0 1 1-2.5-5.800L20 8.500M20 4v4.500h-4.5',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20',
  filter: 'M4 6h16M7 12h10M10 18h4',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  pause: 'M8 5v14M16 5v14',
  chevronDown: 'M6 9.500l6 6 6-6',
  chevronUp: 'M6 14.500l6-6 6 6',
  chevronLeft: 'M14.5 6l-6 6 6 6',
  chevronRight: 'M9.5 6l6 6-6 6',
  offline:
    'M3 3l18 18M8.5 15.500a5 5 0 0 1 5.5-1M5 12a10 10 0 0 1 4-2.500M19 12a10 10 0 0 0-6-3M12 19h.01',
} as const;

export type IconName = keyof typeof PATHS;

type IconProps = { readonly name: IconName; readonly size?: number };

/** A picture beside a text that says the same, so it is hidden from screen readers. */
export function Icon({ name, size = 18 }: IconProps) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
