import type { ReactNode } from 'react';

const paths = {
  overview: <path d="M2.5 13.5v-5m3.7 5v-11m3.6 11v-7m3.7 7v-4" />,
  charts: <path d="M2.5 2.5v11h11M5 10.5l2.75-3.5 2.25 1.75 3.5-4.5" />,
  runs: <path d="M2.5 4h11m-11 4h7.5m-7.5 4h9.5" />,
  tasks: (
    <>
      <rect x="2.5" y="2.5" width="11" height="11" rx="2" />
      <path d="m5.5 8 1.8 1.8L10.75 6.25" />
    </>
  ),
  errors: (
    <>
      <path d="M8 2.25 14.25 13H1.75z" />
      <path d="M8 6.5v3m0 1.7v.1" />
    </>
  ),
  queues: <path d="M2.5 3.5h11v2.5h-11zM2.5 10h11v2.5h-11z" />,
  schedules: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 4.75V8l2.25 1.5" />
    </>
  ),
  sessions: <path d="M2.5 3h11v8H7.25L4.5 13.25V11h-2z" />,
  events: <path d="M9 1.75 3.5 9H8l-1 5.25L12.5 7H8z" />,
  webhooks: <path d="M2.5 8h7m-2.75-3L9.75 8l-3 3M10 2.75h3.5v10.5H10" />,
  waits: (
    <>
      <circle cx="8" cy="5" r="2.5" />
      <path d="M3 13.5c.6-3 2.5-4.25 5-4.25s4.4 1.25 5 4.25" />
    </>
  ),
  versions: <path d="M8 2 14 5 8 8 2 5zM2 8l6 3 6-3M2 11l6 3 6-3" />,
  variables: <path d="M5.5 3C3.5 3 4.5 7 2.5 8c2 1 1 5 3 5m5-10c2 0 1 4 3 5-2 1-1 5-3 5" />,
  batches: <path d="M2.5 2.5h5v5h-5zM8.5 8.5h5v5h-5zM10.5 2.5h3v3m-11 5v3h3" />,
  settings: (
    <>
      <path d="M2.5 4.5h6m3.5 0h1.5m-11 7H4m3.5 0h6" />
      <circle cx="10.25" cy="4.5" r="1.75" />
      <circle cx="5.75" cy="11.5" r="1.75" />
    </>
  ),
  bell: (
    <path d="M3 11.5h10c-1.2-1.2-1.5-2.5-1.5-5a3.5 3.5 0 0 0-7 0c0 2.5-.3 3.8-1.5 5m3.5 0a1.5 1.5 0 0 0 3 0" />
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.25 10.25 3.5 3.5" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
    </>
  ),
  check: <path d="m3 8.5 3.25 3.25L13 5" />,
  close: <path d="m3.5 3.5 9 9m0-9-9 9" />,
  down: <path d="m4 6 4 4 4-4" />,
  right: <path d="m6 4 4 4-4 4" />,
  left: <path d="m10 4-4 4 4 4" />,
  up: <path d="m4 10 4-4 4 4" />,
  pause: <path d="M5.5 3.5v9m5-9v9" />,
  play: <path d="m5 3 7.5 5L5 13z" />,
  menu: <path d="M2.5 4.5h11m-11 3.5h11m-11 3.5h11" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.75" />
      <path d="M8 1.5v1.25M8 13.25v1.25M1.5 8h1.25m10.5 0h1.25M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />
    </>
  ),
  moon: <path d="M13.25 9.5A5.5 5.5 0 0 1 6.5 2.75a5.5 5.5 0 1 0 6.75 6.75z" />,
  screen: <path d="M2 3h12v8H2zm4 10.5h4M8 11v2.5" />,
  columns: <path d="M2.5 3h11v10h-11zM6.25 3v10m3.5-10v10" />,
  open: <path d="M9 2.5h4.5V7m0-4.5L7.5 8.5M6.5 3.5h-4v10h10v-4" />,
  replay: <path d="M3 8a5 5 0 1 0 1.6-3.7L3 5.75m0-3.25v3.25h3.25" />,
  cancel: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m4.2 11.8 7.6-7.6" />
    </>
  ),
  download: <path d="M8 2.5v7.5m-3-3 3 3 3-3M2.5 13.5h11" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.25" />,
  wrap: <path d="M2.5 4h11m-11 4h8.75a2 2 0 0 1 0 4H8.5m1.5-1.5L8.5 12l1.5 1.5M2.5 12h3" />,
  person: (
    <>
      <circle cx="8" cy="5.25" r="2.75" />
      <path d="M2.75 13.75c.7-2.7 2.7-4 5.25-4s4.55 1.3 5.25 4" />
    </>
  ),
  star: <path d="m8 2 1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z" />,
  pencil: <path d="m10.5 2.75 2.75 2.75L5.5 13.25 2.5 13.5l.25-3z" />,
  trash: <path d="M2.5 4.5h11M6 4.5v-2h4v2m-6 0 .6 9h6.8l.6-9" />,
  plus: <path d="M8 3v10M3 8h10" />,
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof paths;

/** Drawn on 16 px, in the color of the text. Decorative: its meaning is next to it or in a label. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    className="icon"
    viewBox="0 0 16 16"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.35"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {paths[name]}
  </svg>
);
