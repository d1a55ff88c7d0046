import type { ReactNode } from 'react';
import type { Glyph } from './run-status.ts';
import './status.css';

const ring = <circle cx="6" cy="6" r="4.75" />;
const x = <path d="m4.1 4.1 3.8 3.8m0-3.8-3.8 3.8" />;

const shapes: Readonly<Record<Glyph, ReactNode>> = {
  ring,
  half: (
    <>
      {ring}
      <path d="M6 1.25a4.75 4.75 0 0 0 0 9.5z" className="glyph-fill" />
    </>
  ),
  quarter: (
    <>
      {ring}
      <path d="M6 6V1.25A4.75 4.75 0 0 1 10.75 6z" className="glyph-fill" />
    </>
  ),
  disc: <circle cx="6" cy="6" r="4.75" className="glyph-fill" />,
  cross: <path d="m2.25 2.25 7.5 7.5m0-7.5-7.5 7.5" strokeWidth="2" />,
  'ringed-cross': (
    <>
      {ring}
      {x}
    </>
  ),
  slashed: (
    <>
      {ring}
      <path d="m2.7 9.3 6.6-6.6" />
    </>
  ),
  hourglass: <path d="M2.75 1.5h6.5M2.75 10.5h6.5M3.5 1.5c0 3 5 3.5 5 9m0-9c0 3-5 3.5-5 9" />,
  clock: (
    <>
      {ring}
      <path d="M6 3.25V6l1.9 1.4" />
    </>
  ),
  dotted: <circle cx="6" cy="6" r="4.75" strokeDasharray="1.5 1.9" />,
  bolt: <path d="M6.75 1 2.75 6.75h2.75L5 11l4.25-6H6.25z" className="glyph-fill" />,
  timer: (
    <>
      <circle cx="6" cy="6.75" r="4" />
      <path d="M4.5 1h3M6 6.75V4.25" />
    </>
  ),
};

/** A status as a shape of 12 px. Decorative: the word is next to it, or the parent has a label. */
export const GlyphMark = ({ glyph }: { readonly glyph: Glyph }) => (
  <svg
    className={`glyph glyph-${glyph}`}
    viewBox="0 0 12 12"
    width="12"
    height="12"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {shapes[glyph]}
  </svg>
);
