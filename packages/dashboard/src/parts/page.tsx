import { useEffect, type ReactNode } from 'react';
import { visibleControls } from './json/visible-controls.ts';
import './page.css';

interface PageProps {
  readonly title: string;
  /** Replaces the title, if it is more than a text. */
  readonly heading?: ReactNode;
  /** Shown below the title. */
  readonly summary?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The outer part of a page: its title, also in the browser tab, and its buttons. */
export function Page({ title, heading, summary, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${visibleControls(title)} · Millrace`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <h1>{heading ?? visibleControls(title)}</h1>
          {summary && <div className="page-summary">{summary}</div>}
        </div>
        {actions && <div className="row wrap">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section of a page, with its own heading. */
export const Section = ({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) => (
  <section className="section" aria-label={title}>
    <div className="row spread wrap section-head">
      <h2>{title}</h2>
      {actions && <div className="row">{actions}</div>}
    </div>
    {children}
  </section>
);

/** Names and values: the properties of one object. */
export const Properties = ({
  properties,
}: {
  readonly properties: readonly (readonly [name: string, value: ReactNode] | undefined)[];
}) => (
  <dl className="properties">
    {properties
      .filter((property) => property !== undefined && property[1] !== undefined && property[1] !== null)
      .map((property) => (
        <div key={property?.[0]} className="property">
          <dt>{property?.[0]}</dt>
          <dd>{property?.[1]}</dd>
        </div>
      ))}
  </dl>
);
