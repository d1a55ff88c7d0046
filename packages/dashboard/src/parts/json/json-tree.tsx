import { useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { Icon } from '../icons.tsx';
import {
  isContainer,
  jsonRows,
  opening,
  pathKey,
  pathText,
  pieceSize,
  searchJson,
  sizeOf,
  type JsonRow,
  type Opened,
} from './rows.ts';
import { LongText } from './long-text.tsx';
import './json.css';

/**
 * A JSON value to look into: members open and close, long lists and texts come in pieces, each line can be copied. It shows everything as text, whatever
 * is in it.
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
  const [at, setAt] = useState(0);
  // Millions of characters are searched once for each text, not each time that it is drawn.
  const searched = useRef({ value, text: '', found: [] as ReturnType<typeof searchJson> });
  const find = (text: string): typeof searched.current.found => {
    if (searched.current.value !== value || searched.current.text !== text)
      searched.current = { value, text, found: text === '' ? [] : searchJson(value, text) };
    return searched.current.found;
  };
  const found = find(search);
  const current = found[at];

  const goTo = (index: number, paths = found): void => {
    const path = paths[index];
    setAt(index);
    if (!path) return;
    setOpened((before) => opening(before, value, path));
    requestAnimationFrame(() =>
      document.querySelector('.json-line.is-found')?.scrollIntoView({ block: 'nearest' }),
    );
  };
  const toggle = (row: JsonRow): void =>
    setOpened((before) => {
      const key = pathKey(row.path);
      if (row.kind === 'more')
        return { ...before, pieces: new Map(before.pieces).set(key, (before.pieces.get(key) ?? 1) + 1) };
      const toggled = new Set(before.toggled);
      if (!toggled.delete(key)) toggled.add(key);
      return { ...before, toggled };
    });

  return (
    <div className="json">
      <div className="json-bar">
        <input
          className="input"
          type="search"
          placeholder="Search names and values"
          aria-label={`Search in ${label}`}
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            goTo(0, find(event.target.value));
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || found.length === 0) return;
            event.preventDefault();
            goTo((at + (event.shiftKey ? found.length - 1 : 1)) % found.length);
          }}
        />
        {search !== '' && (
          <span className="muted small number" role="status">
            {found.length === 0 ? 'none' : `${at + 1} of ${found.length}${found.length === 500 ? '+' : ''}`}
          </span>
        )}
        <CopyButton text={() => JSON.stringify(value, undefined, 2)} what={`Copy ${label.toLowerCase()}`} />
      </div>
      <div className="json-lines" role="tree" aria-label={label} tabIndex={0}>
        {jsonRows(value, opened).map((row) => (
          <Line
            key={row.kind + pathKey(row.path)}
            row={row}
            isFound={current !== undefined && row.kind === 'value' && pathKey(row.path) === pathKey(current)}
            onToggle={() => toggle(row)}
          />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  readonly row: JsonRow;
  readonly isFound: boolean;
  readonly onToggle: () => void;
}

function Line({ row, isFound, onToggle }: LineProps) {
  const indent = { paddingInlineStart: `${row.depth * 16 + 4}px` };
  if (row.kind === 'more')
    return (
      <div className="json-line" style={indent} role="treeitem" aria-level={row.depth + 1}>
        <Button look="plain" onClick={onToggle}>
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

/** A value of which only the text is known, such as a payload that is no JSON. */
export const TextBlock = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div className="text-block">
    <pre tabIndex={0} aria-label={label}>
      <LongText text={text} />
    </pre>
    <CopyButton text={text} what={`Copy ${label.toLowerCase()}`} />
  </div>
);
