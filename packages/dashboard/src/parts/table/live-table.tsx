import { Failure } from '../failure.tsx';
import type { LiveList } from './live-rows.ts';
import { Table, type TableProps } from './table.tsx';

interface LiveTableProps<R> extends Omit<TableProps<R>, 'rows' | 'isPending' | 'hasMore' | 'loadMore'> {
  readonly list: LiveList<R>;
  /** What a row is: "event". */
  readonly noun: string;
  /** Where it has no s. */
  readonly nouns?: string;
}

/** A list that is live: rows that came since it was loaded are shown when the reader asks for them. */
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
