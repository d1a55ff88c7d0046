import { Button } from './button.tsx';

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
  /** The labels of the buttons. */
  readonly previous?: string;
  readonly next?: string;
}

/** The pages of a list with numbers; nothing for a single page. */
export const Pager = ({ page, pages, onPage, previous = 'Previous', next = 'Next' }: PagerProps) =>
  pages > 1 && (
    <nav className="row" aria-label="Pages">
      <Button icon="left" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {previous}
      </Button>
      <span className="muted number">
        Page {page.toLocaleString('en')} of {pages.toLocaleString('en')}
      </span>
      <Button icon="right" disabled={page >= pages} onClick={() => onPage(page + 1)}>
        {next}
      </Button>
    </nav>
  );
