import { Failure } from '../failure.tsx';
import type { LiveList } from './live-rows.ts';
import { Table, type TableProps } from './table.tsx';

interface LiveTableProps<R> extends Omit<TableProps<R>, 'rows' | 'isPending' | 'hasMore' | 'loadMore'> {
  readonly list: LiveList<R>;
  /** The name of a row: "event". */
  readonly noun: string;
  /** An irregular plural. */
  readonly nouns?: string;
}

/** A live list: new rows are shown on request. */
export function LiveTable<R>({
  list: { pages, rows, fresh, showFresh },
  noun,
  nouns = `${noun}s`,
  ...table
}: LiveTableProps<R>) {
  if (pages.error && rows.length === 0) return <Failure error={pages.error} onRetry={pages.refetch} />;
  return (
    <div className="edge">
      {fresh > 0 && rows.length > 0 && (
        <button type="button" className="new-rows" onClick={showFresh}>
          Show {fresh.toLocaleString('en')} new {fresh === 1 ? noun : nouns}
        </button>
      )}
      <Table
        rows={rows}
        isPending={pages.isPending}
        hasMore={pages.hasMore}
        loadMore={pages.loadMore}
        {...table}
      />
    </div>
  );
}
