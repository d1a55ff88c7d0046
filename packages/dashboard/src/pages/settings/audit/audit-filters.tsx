import { useEffect, useState } from 'react';
import { useProject } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { usePartKeys } from '../../../parts/keyboard.ts';
import { usePeople } from '../../../parts/people.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import { acts } from './acts.ts';

/** Filters by act, person, target, project and day. */
export function AuditFilters() {
  const [{ act = '', actor = '', target = '', project, from, to }, setSearch] = useSearchTexts();
  const people = usePeople();
  const ref = useProject()?.ref;
  const set = (change: Readonly<Record<string, string | undefined>>): void =>
    setSearch(change, { push: true });
  return (
    <div className="row wrap audit-filters">
      <select
        className="select"
        aria-label="Action"
        value={act}
        onChange={(event) => set({ act: event.target.value || undefined })}
      >
        <option value="">All actions</option>
        {[...new Set([...acts, ...(act === '' ? [] : [act])])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="select"
        aria-label="Actor"
        value={actor}
        onChange={(event) => set({ actor: event.target.value || undefined })}
      >
        <option value="">All actors</option>
        {[...people.values()].map(({ userId, name }) => (
          <option key={userId} value={userId}>
            By {name}
          </option>
        ))}
        {actor !== '' && !people.has(actor) && <option value={actor}>By {actor}</option>}
      </select>
      <TargetField key={target} target={target} onChange={(next) => set({ target: next || undefined })} />
      <label className="row">
        <span className="muted">From</span>
        <input
          className="input"
          type="date"
          value={dayOf(from)}
          onChange={(event) => set({ from: startOf(event.target.value) })}
        />
      </label>
      <label className="row">
        <span className="muted">before</span>
        <input
          className="input"
          type="date"
          value={dayOf(to)}
          onChange={(event) => set({ to: startOf(event.target.value) })}
        />
      </label>
      <Button
        aria-pressed={project === ref}
        onClick={() => set({ project: project === ref ? undefined : ref })}
      >
        {project === ref ? 'This project only' : 'All projects'}
      </Button>
    </div>
  );
}

/** An id is searched when it is complete, not with every letter. */
function TargetField({
  target,
  onChange,
}: {
  readonly target: string;
  readonly onChange: (next: string) => void;
}) {
  const [text, setText] = useState(target);
  useEffect(() => {
    if (text.trim() === target) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), 500);
    return () => clearTimeout(timer);
  });
  const onKeyDown = usePartKeys('In the target', [
    { keys: 'Enter', label: 'Filter', run: () => onChange(text.trim()), whileTyping: true },
  ]);
  return (
    <input
      className="input"
      type="search"
      placeholder="Id of the target"
      aria-label="Target"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

const dayOf = (instant: string | undefined): string => instant?.slice(0, 10) ?? '';
const startOf = (day: string): string | undefined => (day === '' ? undefined : `${day}T00:00:00.000Z`);
