import { memo, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { LongText } from '../../parts/json/long-text.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { clockText } from '../../parts/time/format.ts';
import { useTimeZone } from '../../parts/time/zone.ts';
import { wordsOf, type Entry } from './conversation.ts';

/** Number of entries rendered initially; earlier ones are rendered on request. */
const firstShown = 100;

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly isLoaded: boolean;
  /** Whether a reply is pending: the task has not completed its turn. */
  readonly isAnswering: boolean;
}

/** The conversation. It follows new entries while it is scrolled to its end. */
export function Entries({ entries, isLoaded, isAnswering }: EntriesProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [limit, setLimit] = useState(firstShown);
  const visible = entries.slice(-limit);
  const zone = useTimeZone();

  useLayoutEffect(() => {
    const element = box.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [entries]);

  return (
    <div
      ref={box}
      className="entries"
      role="log"
      aria-label="Conversation"
      // A scrollable log must be focusable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {entries.length > visible.length && (
        <Button variant="plain" onClick={() => setLimit(limit * 4)}>
          Show {Math.min(limit * 3, entries.length - visible.length).toLocaleString('en')} earlier
        </Button>
      )}
      {entries.length === 0 && (
        <p className="muted entries-empty">{isLoaded ? 'No messages yet.' : 'Loading the conversation'}</p>
      )}
      {visible.map((entry) => (
        <EntryView key={`${entry.kind} ${entry.seq}`} entry={entry} zone={zone} />
      ))}
      {isAnswering && (
        <p className="muted small" role="status">
          The task has not finished its turn.
        </p>
      )}
    </div>
  );
}

const EntryView = memo(function EntryView({ entry, zone }: { readonly entry: Entry; readonly zone: string }) {
  const [isRaw, setRaw] = useState(false);
  if (entry.kind === 'control') return <p className="entry-control small muted">{entry.name}</p>;
  const isIn = entry.kind === 'in';
  const words = isIn ? wordsOf(entry.value) : undefined;
  const hasRaw = isIn ? words !== undefined && typeof entry.value !== 'string' : false;
  return (
    <article
      className={`entry ${isIn ? 'is-in' : 'is-out'}`}
      aria-label={isIn ? 'To the task' : 'From the task'}
    >
      <header className="row small muted entry-head">
        <span className="strong">{isIn ? 'in' : 'out'}</span>
        <span className="number">#{entry.seq}</span>
        <span className="number">{clockText(entry.at, zone)}</span>
        {!isIn && entry.chunks > 1 && (
          <span className="number">{entry.chunks.toLocaleString('en')} chunks</span>
        )}
        {hasRaw && (
          <Button variant="plain" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            JSON
          </Button>
        )}
      </header>
      {isIn ? (
        words !== undefined && !isRaw ? (
          <Words text={words} />
        ) : (
          <JsonTree value={entry.value} label="Message" />
        )
      ) : (
        entry.parts.map((part, index) =>
          part.kind === 'text' ? (
            // oxlint-disable-next-line react/no-array-index-key -- parts are only added at the end
            <Words key={index} text={part.text} />
          ) : (
            // oxlint-disable-next-line react/no-array-index-key -- parts are only added at the end
            <Value key={index} value={part.value} />
          ),
        )
      )}
    </article>
  );
});

/** A chunk that is not text: one line until it is opened. */
function Value({ value }: { readonly value: unknown }) {
  const [isOpen, setOpen] = useState(false);
  const text = JSON.stringify(value) ?? '';
  return (
    <details className="entry-value" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code className="cut">
          <bdi>{visibleControls(text.slice(0, 300))}</bdi>
        </code>
      </summary>
      {isOpen && <JsonTree value={value} label="Chunk" />}
    </details>
  );
}

const Words = ({ text }: { readonly text: string }) => (
  <div className="entry-words" dir="auto">
    <LongText text={text} />
  </div>
);
