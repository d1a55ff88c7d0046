import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';
import { useMay } from '../../api/session.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { JsonTree, TextBlock } from '../../parts/json/json-tree.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import { Time } from '../../parts/time/time.tsx';
import { CompletedBy, Completers } from './completers.tsx';
import { CompleteForm } from './complete-form.tsx';
import { parsedJson } from '../../parts/json/parsed-json.ts';
import { RunLink, WaitingRun } from './waiting-run.tsx';
import { tokenBadges } from './badges.ts';
import './waits.css';

type Token = ReplyOf<'retrieveWaitpointToken'>;

/** One token: the runs that wait for it, and a form to complete it. */
export function WaitPage() {
  const { waitpointId = '' } = useParams({ strict: false }) as { readonly waitpointId?: string };
  const query = useAsk(
    'retrieveWaitpointToken',
    { params: { waitpointId }, query: { details: 'true' } },
    { live: 2_000, keepPrevious: false },
  );
  if (query.data) return <Loaded key={waitpointId} token={query.data} />;
  return (
    <Page title="Token">
      {query.error ? (
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function Loaded({ token }: { readonly token: Token }) {
  const may = useMay();
  const [sent, setSent] = useState<string>();
  const mayComplete = may('completeWaitpointToken');
  const isWaiting = token.status === 'WAITING';
  const { runs, event, completedBy } = token.details ?? {};
  const [first, ...others] = runs ?? [];
  const title = first?.taskIdentifier ?? token.tags[0] ?? 'Token';
  return (
    <Page
      title={title}
      summary={
        <span className="row wrap">
          <Mark badge={tokenBadges[token.status]} />
          <Id id={token.id} />
        </span>
      }
      actions={
        <CodeExample
          operation="completeWaitpointToken"
          input={{ params: { waitpointId: token.id }, body: { data: { approved: true } } }}
          cli={undefined}
          sdk={`import { wait } from '@millrace/sdk';\n\nawait wait.completeToken('${token.id}', { approved: true });`}
        />
      }
    >
      <Properties
        properties={[
          ['Created', <Time key="created" at={token.createdAt} />],
          [
            isWaiting ? 'Times out' : 'Would have timed out',
            token.timeoutAt === undefined ? 'never' : <Time key="timeout" at={token.timeoutAt} />,
          ],
          [
            token.status === 'TIMED_OUT' ? 'Timed out' : 'Completed',
            token.completedAt === undefined ? undefined : <Time key="completed" at={token.completedAt} />,
          ],
          ['Completed by', completedBy && <CompletedBy key="by" by={completedBy} />],
          ['May be completed by', isWaiting ? <Completers key="completers" event={event} /> : undefined],
          ['Tags', token.tags.length > 0 ? <Tags key="tags" tags={token.tags} /> : undefined],
          ['Idempotency key', token.idempotencyKey],
          [
            'Address that completes it',
            isWaiting && mayComplete ? (
              <span key="url" className="row">
                <span className="muted">a secret</span>
                <CopyButton text={token.url} what="Copy the address" />
              </span>
            ) : undefined,
          ],
        ]}
      />
      {isWaiting && runs?.length === 0 && (
        <Section title="No run waits for it">
          <p className="muted">
            If it is completed first, a run that waits for it later continues immediately.
          </p>
        </Section>
      )}
      {first && <WaitingRun key={first.id} run={first} />}
      {others.length > 0 && (
        <Section title={`${countText(others.length, 'more run')} ${verbOf(others.length, isWaiting)} for it`}>
          <ul className="wait-runs">
            {others.map((run) => (
              <li key={run.id}>
                <RunLink run={run} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {isWaiting ? (
        mayComplete ? (
          <CompleteForm token={token} onSent={setSent} />
        ) : (
          <p className="notice">
            <span className="muted">Your role is read-only: a developer of the project can complete it.</span>
          </p>
        )
      ) : (
        <Outcome token={token} sent={sent} />
      )}
    </Page>
  );
}

const verbOf = (count: number, isWaiting: boolean): string =>
  isWaiting ? (count === 1 ? 'waits' : 'wait') : 'waited';

const Tags = ({ tags }: { readonly tags: readonly string[] }) => (
  <span className="row wrap">
    {tags.map((tag) => (
      <PageLink
        key={tag}
        to="/waits"
        search={{ q: `tag:${JSON.stringify(tag)}`, status: 'all' }}
        className="wait-tag"
      >
        {tag}
      </PageLink>
    ))}
  </span>
);

/** The data that the runs received. */
function Outcome({ token, sent }: { readonly token: Token; readonly sent: string | undefined }) {
  const { output, outputType, status } = token;
  const value =
    output !== undefined && outputType?.includes('json') === true ? parsedJson(output) : undefined;
  const isOther = sent !== undefined && status === 'COMPLETED' && (JSON.stringify(value) ?? '') !== sent;
  return (
    <>
      {sent !== undefined && (
        <div
          className={`notice ${isOther || status === 'TIMED_OUT' ? 'tone-warn' : 'tone-good'}`}
          role="status"
        >
          {status === 'TIMED_OUT'
            ? 'The token timed out before your value arrived. The runs received a timeout.'
            : isOther
              ? 'Another user completed it first. The runs received the value below, not yours.'
              : 'Completed. The waiting runs continue.'}
        </div>
      )}
      <Section title={status === 'TIMED_OUT' ? 'Result for the runs: a timeout' : 'Completed with'}>
        {output === undefined ? (
          <p className="muted">No value.</p>
        ) : value === undefined ? (
          <TextBlock text={output} label="Value" />
        ) : (
          <JsonTree value={value} label="Value" />
        )}
      </Section>
    </>
  );
}
