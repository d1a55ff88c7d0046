import { useState, type FormEvent } from 'react';
import { useAct } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { isMac, usePartKeys } from '../../parts/keyboard.ts';

type Shape = 'object' | 'text' | 'json';

const shapes = [
  { value: 'object', label: '{ text }' },
  { value: 'text', label: 'Text' },
  { value: 'json', label: 'JSON' },
] as const;

/** In the format of the last message: tasks expect one shape. */
const shapeAfter = (last: unknown): Shape =>
  last === undefined
    ? 'object'
    : typeof last === 'string'
      ? 'text'
      : typeof last === 'object' && last !== null && Object.keys(last).join(',') === 'text'
        ? 'object'
        : 'json';

interface ComposerProps {
  readonly session: string;
  /** The latest message to the task. */
  readonly last: unknown;
}

/** Writes to `.in`, which the task reads next. Typed text is kept until the server has received it. */
export function Composer({ session, last }: ComposerProps) {
  const [chosen, setChosen] = useState<Shape>();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string>();
  const shape = chosen ?? shapeAfter(last);
  const append = useAct('appendToSessionIn', {
    showsErrors: true,
    invalidates: ['retrieveSession'],
    onDone: () => setText(''),
  });

  const send = (): void => {
    if (text.trim() === '' || append.isPending) return;
    if (shape === 'json') {
      try {
        JSON.parse(text);
      } catch (error) {
        setWrong(`This is not JSON: ${error instanceof Error ? error.message : 'it ends too early'}`);
        return;
      }
    }
    setWrong(undefined);
    append.mutate({ params: { session }, body: shape === 'object' ? JSON.stringify({ text }) : text });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
  const onKeyDown = usePartKeys('In the message', [
    { keys: 'Mod+Enter', label: 'Send', run: send, whileTyping: true },
    // JSON contains its own line breaks.
    ...(shape === 'json' ? [] : [{ keys: 'Enter', label: 'Send', run: send, whileTyping: true }]),
  ]);
  const error = wrong ?? append.error?.message;

  return (
    <form className="composer" onSubmit={submit}>
      <textarea
        className={`input ${shape === 'json' ? 'code' : ''}`}
        aria-label="Message to the task"
        placeholder={shape === 'json' ? '{ "text": "Hello" }' : 'Message to the task'}
        rows={shape === 'json' ? 4 : 2}
        value={text}
        aria-invalid={error === undefined ? undefined : true}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div className="row spread wrap">
        <Segments label="Format" options={shapes} value={shape} onChange={setChosen} />
        <div className="row">
          <span className="muted small composer-hint">
            {shape === 'json'
              ? `${isMac ? '⌘' : 'Ctrl'} Enter to send`
              : 'Enter to send, Shift Enter for a new line'}
          </span>
          <Button type="submit" variant="main" isBusy={append.isPending} disabled={text.trim() === ''}>
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}
