import type { RunListItem } from '@millrace/contract';
import type { RunFilterQuery } from '@millrace/contract/filter';
import type { ReactNode } from 'react';
import { Failure } from '../failure.tsx';
import { usePageHref } from '../page-link.tsx';
import { useSearchTexts } from '../search.ts';
import { countText } from '../count-text.ts';
import { shownColumns, type Column } from '../table/column.ts';
import { useLiveList } from '../table/live-rows.ts';
import type { Selection } from '../table/selection.ts';
import { Table } from '../table/table.tsx';
import { runColumns } from './run-columns.tsx';
import { RunSidePanel } from './run-panel.tsx';
import './runs.css';

interface RunListProps {
  /** Filters of `listRuns`, such as `{ 'filter[error]': id }` or the result of `runFilterQuery`. */
  readonly query: RunFilterQuery;
  readonly columns?: readonly Column<RunListItem>[];
  readonly selection?: Selection;
  readonly empty: ReactNode;
}

const pageSize = 50;
const idOf = ({ id }: RunListItem): string => id;

/**
 * Runs, newest first, live, with a side panel for the selected one. Usable on any page.
 *
 * @example
 * <RunList query={{ 'filter[error]': errorId }} empty={<Empty title="No runs of this group are stored." />} />
 */
export function RunList({ query, columns, selection, empty }: RunListProps) {
  const pageHref = usePageHref();
  const [{ panel }, setSearch] = useSearchTexts();
  const input = { query: { ...query, 'page[size]': pageSize, errors: 'true' } };
  const { pages, rows, fresh, showFresh } = useLiveList('listRuns', input, idOf);
  if (pages.error && rows.length === 0) return <Failure error={pages.error} onRetry={pages.refetch} />;
  return (
    <div className="run-list">
      {fresh > 0 && rows.length > 0 && (
        <button
          type="button"
          className="new-rows"
          onClick={() => {
            showFresh();
            window.scrollTo({ top: 0 });
          }}
        >
          Show {countText(fresh === pageSize ? `${pageSize}+` : fresh, 'new run')}
        </button>
      )}
      <Table
        label="Runs"
        columns={columns ?? shownColumns(runColumns(), undefined)}
        rows={rows}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(`/runs/${id}`)}
        onOpen={({ id }) => setSearch({ panel: id }, { push: panel === undefined })}
        openKey={panel}
        {...(selection && { selection })}
        isPending={pages.isPending}
        hasMore={pages.hasMore}
        loadMore={pages.loadMore}
        empty={empty}
      />
      <RunSidePanel />
    </div>
  );
}
