import { PageLink } from './page-link.tsx';
import './tabs.css';

interface PageTab {
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly isCurrent: boolean;
}

/** Related pages, such as batches and bulk actions. Each has its own address. */
export const PageTabs = ({ label, tabs }: { readonly label: string; readonly tabs: readonly PageTab[] }) => (
  <nav aria-label={label} className="tabs-line">
    <div className="tabs-list">
      {tabs.map(({ label: text, to, search = {}, isCurrent }) => (
        <PageLink
          key={text}
          to={to}
          search={search}
          className={`tab ${isCurrent ? 'is-current' : ''}`}
          aria-current={isCurrent ? 'page' : undefined}
        >
          {text}
        </PageLink>
      ))}
    </div>
  </nav>
);
