import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { Icon } from '../icons.tsx';
import { usePartKeys } from '../keyboard.ts';
import {
  isContainer,
  jsonRows,
  opening,
  pathKey,
  pathText,
  pieceSize,
  sizeOf,
  type JsonRow,
  type Opened,
} from './rows.ts';
import { LongText } from './long-text.tsx';
import { maxFound, useJsonSearch } from './search.ts';
import './json.css';

/**
 * A JSON value as a tree: members open and close, long lists and texts are shown in pieces, each line can be copied. Arrows move through it;
 * Tab moves through the controls of one line. All contents are shown as text.
 */
export function JsonTree({
  value,
  label,
  depth = 2,
}: {
  readonly value: unknown;
  /** For screen readers: "Payload". */
  readonly label: string;
  /** Levels that are open at first. */
  readonly depth?: number;
}) {
  const [opened, setOpened] = useState<Opened>({ toggled: new Set(), pieces: new Map(), depth });
  const [search, setSearch] = useState('');
  const [, setMoved] = useState(0);
  const [at, setAt] = useState(0);
  const [active, setActive] = useState(rootKey);
  const lines = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const rows = jsonRows(value, opened);
  const activeIndex = Math.max(
    0,
    rows.findIndex((row) => keyOf(row) === active),
  );
  const { text: searchedText, found } = useJsonSearch(value, search);
  const current = found[at];

  const goTo = (index: number): void => {
    const path = found[index];
    setAt(index);
    if (!path) return;
    setOpened((before) => opening(before, value, path));
    requestAnimationFrame(() =>
      document.querySelector('.json-line.is-found')?.scrollIntoView({ block: 'nearest' }),
    );
  };
  // A value that changes later is searched again, and the page stays where it is.
  useEffect(() => goTo(0), [searchedText]);
  const toggle = (row: JsonRow): void =>
    setOpened((before) => {
      const key = pathKey(row.path);
      if (row.kind === 'more')
        return { ...before, pieces: new Map(before.pieces).set(key, (before.pieces.get(key) ?? 1) + 1) };
      const toggled = new Set(before.toggled);
      if (!toggled.delete(key)) toggled.add(key);
      return { ...before, toggled };
    });

  useLayoutEffect(() => {
    for (const [index, line] of [...(lines.current?.children ?? [])].entries()) {
      const isActive = index === activeIndex;
      for (const control of line.querySelectorAll<HTMLElement>('button'))
        control.tabIndex = isActive ? 0 : -1;
      if (isActive && wantsFocus.current && line instanceof HTMLElement) line.focus();
    }
    wantsFocus.current = false;
  });
  const move = (to: number): void => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (!row) return;
    wantsFocus.current = true;
    setActive(keyOf(row));
    setMoved((count) => count + 1);
  };
  const currentRow = rows[activeIndex];
  const canOpen = (row: JsonRow | undefined): row is JsonRow =>
    row !== undefined && (row.kind === 'more' || (isContainer(row.value) && sizeOf(row.value) > 0));
  const isShown = (row: JsonRow | undefined): boolean => row?.kind === 'value' && row.isOpen === true;
  const onKeyDown = usePartKeys('In JSON', [
    { keys: 'ArrowDown', label: 'Next line', run: () => move(activeIndex + 1) },
    { keys: 'ArrowUp', label: 'Previous line', run: () => move(activeIndex - 1) },
    { keys: 'Home', label: 'First line', run: () => move(0) },
    { keys: 'End', label: 'Last line', run: () => move(rows.length - 1) },
    {
      keys: 'ArrowRight',
      label: 'Expand the entry',
      run: () => (canOpen(currentRow) && !isShown(currentRow) ? toggle(currentRow) : move(activeIndex + 1)),
    },
    {
      keys: 'ArrowLeft',
      label: 'Collapse the entry, or go to its parent',
      run: () =>
        currentRow && canOpen(currentRow) && isShown(currentRow)
          ? toggle(currentRow)
          : move(parentOf(rows, activeIndex)),
    },
    { keys: 'Enter', label: 'Open or close', run: () => canOpen(currentRow) && toggle(currentRow) },
  ]);

  const countText = (): string => {
    if (searchedText !== search) return 'searching …';
    if (found.length === 0) return 'none';
    return `${at + 1} of ${found.length}${found.length === maxFound ? '+' : ''}`;
  };

  return (
    <div className="json">
      <div className="json-bar">
        <input
          className="input"
          type="search"
          placeholder="Search names and values"
          aria-label={`Search in ${label}`}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || found.length === 0) return;
            event.preventDefault();
            goTo((at + (event.shiftKey ? found.length - 1 : 1)) % found.length);
          }}
        />
        {search !== '' && (
          <span className="muted small number" role="status">
            {countText()}
          </span>
        )}
        <CopyButton text={() => JSON.stringify(value, undefined, 2)} what={`Copy ${label.toLowerCase()}`} />
      </div>
      <div ref={lines} className="json-lines" role="tree" aria-label={label} onKeyDown={onKeyDown}>
        {rows.map((row, index) => (
          <Line
            key={keyOf(row)}
            row={row}
            isTabStop={index === activeIndex}
            onFocus={() => setActive(keyOf(row))}
            isFound={current !== undefined && row.kind === 'value' && pathKey(row.path) === pathKey(current)}
            onToggle={() => toggle(row)}
          />
        ))}
      </div>
    </div>
  );
}

const keyOf = (row: JsonRow): string => row.kind + pathKey(row.path);
const rootKey = keyOf({ kind: 'value', path: [], name: undefined, depth: 0, value: undefined });

/** The line of a line's parent. */
function parentOf(rows: readonly JsonRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.depth ?? 0) < depth) return at;
  return index;
}

interface LineProps {
  readonly row: JsonRow;
  readonly isFound: boolean;
  readonly isTabStop: boolean;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
}

function Line({ row, isFound, isTabStop, onFocus, onToggle }: LineProps) {
  const indent = { paddingInlineStart: `${row.depth * 16 + 4}px` };
  if (row.kind === 'more')
    return (
      <div
        className="json-line"
        style={indent}
        role="treeitem"
        aria-level={row.depth + 1}
        tabIndex={isTabStop ? 0 : -1}
        onFocus={onFocus}
      >
        <Button variant="plain" onClick={onToggle}>
          Show {Math.min(pieceSize, row.left).toLocaleString('en')} of {row.left.toLocaleString('en')} more
        </Button>
      </div>
    );
  const { name, value, path } = row;
  const canOpen = isContainer(value) && sizeOf(value) > 0;
  return (
    <div
      className={`json-line ${isFound ? 'is-found' : ''}`}
      style={indent}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={canOpen ? row.isOpen : undefined}
      tabIndex={isTabStop ? 0 : -1}
      onFocus={onFocus}
    >
      {canOpen ? (
        <button
          type="button"
          className="json-toggle"
          aria-label={row.isOpen ? 'Close' : 'Open'}
          onClick={onToggle}
        >
          <Icon name={row.isOpen ? 'down' : 'right'} size={12} />
        </button>
      ) : (
        <span className="json-toggle" />
      )}
      <span className="json-content">
        {name !== undefined && (
          <>
            <span className={typeof name === 'number' ? 'muted' : 'json-name'}>
              {typeof name === 'number' ? name : <LongText text={name} />}
            </span>
            <span className="muted">: </span>
          </>
        )}
        <Value value={value} isOpen={row.isOpen === true} />
      </span>
      <span className="json-actions">
        <CopyButton text={pathText(path)} what="Copy path" />
        <CopyButton
          text={() => (typeof value === 'string' ? value : JSON.stringify(value, undefined, 2))}
          what="Copy value"
        />
      </span>
    </div>
  );
}

function Value({ value, isOpen }: { readonly value: unknown; readonly isOpen: boolean }) {
  if (typeof value === 'string')
    return (
      <span className="json-string">
        <LongText text={value} isQuoted />
      </span>
    );
  if (!isContainer(value)) return <span className="json-scalar">{String(value)}</span>;
  const size = sizeOf(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (size === 0)
    return (
      <span className="muted">
        {open}
        {close}
      </span>
    );
  const noun = Array.isArray(value) ? (size === 1 ? 'item' : 'items') : size === 1 ? 'member' : 'members';
  return (
    <span className="muted">
      {isOpen ? '' : `${open}…${close} `}
      <span className="small">
        {size.toLocaleString('en')} {noun}
      </span>
    </span>
  );
}

/** A value of which only the text is known, such as a payload that is not JSON. */
export const TextBlock = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div className="text-block">
    <pre tabIndex={0} aria-label={label}>
      <LongText text={text} />
    </pre>
    <CopyButton text={text} what={`Copy ${label.toLowerCase()}`} />
  </div>
);
