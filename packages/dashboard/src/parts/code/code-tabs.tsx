import { useState } from 'react';
import { baseUrl, requestOf } from '../../api/client.ts';
import { useEnvironment } from '../../api/environment.ts';
import type { InputOf, OperationName } from '../../api/operation-types.ts';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { Popover } from '../popover.tsx';
import { LazyTabs as Tabs } from '../lazy-tabs.tsx';
import './code.css';

interface CodeExampleProps<N extends OperationName> {
  /** The operation behind the page or the button. */
  readonly operation: N;
  readonly input: InputOf<N>;
  /** The command without the program name: `runs get run_…`. Undefined if there is none. */
  readonly cli: string | undefined;
  /** One or more lines of code with the SDK. */
  readonly sdk: string;
}

/** A literal shell word for any text. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a curl command. The key stays in a variable, because the page has none. */
export function curlText(url: string, method: string, body: unknown): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(url)}`,
    '-H "authorization: Bearer $MILLRACE_SECRET_KEY"',
    ...(body === undefined
      ? []
      : ['-H "content-type: application/json"', `-d ${shellWord(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** "As code": the equivalent of the page or button as a command, as a request and with the SDK. */
export function CodeExample<N extends OperationName>({ operation, input, cli, sdk }: CodeExampleProps<N>) {
  const [tab, setTab] = useState(() => localStorage.getItem('millrace.code') ?? 'cli');
  const environment = useEnvironment();
  const { method, path } = requestOf(operation, input);
  const flags = environment.branch === undefined ? '' : ` --branch ${shellWord(environment.branch)}`;
  const tabs = [
    ...(cli === undefined ? [] : [{ id: 'cli', label: 'CLI', text: `npx millrace ${cli}${flags}` }]),
    { id: 'curl', label: 'curl', text: curlText(new URL(path.slice(1), baseUrl).href, method, input.body) },
    { id: 'sdk', label: 'SDK', text: sdk },
  ];
  return (
    <Popover
      trigger={<Button>Show code</Button>}
      label="Code example"
      className="code-pop"
      content={() => (
        <Tabs
          label="Code example format"
          selected={tab}
          onSelect={(id) => {
            localStorage.setItem('millrace.code', id);
            setTab(id);
          }}
          tabs={tabs.map(({ id, label, text }) => ({ id, label, content: <CodeBlock text={text} /> }))}
        />
      )}
    />
  );
}

/** Code to copy. */
export const CodeBlock = ({ text }: { readonly text: string }) => (
  <div className="code-block">
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} what="Copy code" />
  </div>
);
