import type { TokenDetails } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { shortId } from '../../parts/id-text.ts';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Data, RunData } from '../../parts/runs/run-data.tsx';
import { Time } from '../../parts/time/time.tsx';

type TokenRun = NonNullable<TokenDetails['runs']>[number];

/** The context of a decision: the data of the run and the steps before its wait. */
export function WaitingRun({ run }: { readonly run: TokenRun }) {
  const params = { runId: run.id };
  const data = useAsk('retrieveRun', { params }, { live: run.isWaiting });
  const steps = useAsk('listRunSteps', { params, query: { 'page[size]': 100 } }, { live: run.isWaiting });
  const { payload, payloadPresignedUrl, metadata = {} } = data.data ?? {};
  return (
    <Section title={run.isWaiting ? 'The waiting run' : 'The run that waited'}>
      <p>
        <RunLink run={run} />{' '}
        <span className="muted">
          {run.description !== undefined && `${visibleControls(run.description)}, `}
          {run.isWaiting ? 'waiting since ' : 'waited from '}
          <Time at={run.since} />
        </span>
      </p>
      {data.error && !data.data && <Failure error={data.error} onRetry={() => void data.refetch()} />}
      {data.isPending && <Skeleton lines={4} label="Loading the run" />}
      {data.data && (
        <div className="wait-data">
          <section aria-label="Payload of the run">
            <h3>Payload</h3>
            <RunData
              label="Payload"
              value={payload}
              url={payloadPresignedUrl}
              none="The run was triggered without a payload"
            />
          </section>
          {Object.keys(metadata).length > 0 && (
            <section aria-label="Metadata of the run">
              <h3>Metadata</h3>
              <Data label="Metadata" value={metadata} />
            </section>
          )}
          {steps.data && steps.data.data.length > 0 && (
            <section aria-label="Earlier steps of the run">
              <h3>Earlier steps</h3>
              <ol className="wait-steps">
                {steps.data.data.map((step) => (
                  <li key={step.name}>
                    <p className="row wrap">
                      <span className="strong mono">{visibleControls(step.name)}</span>
                      <span className={step.status === 'FAILED' ? 'tone-bad' : 'tone-good'}>
                        {step.status === 'FAILED' ? 'failed' : 'completed'}
                      </span>
                      <span className="muted">
                        <Time at={step.endedAt} />
                      </span>
                    </p>
                    {step.error && <p className="tone-bad">{visibleControls(step.error.message)}</p>}
                    {step.output !== undefined && (
                      <JsonTree value={step.output} label={`Result of ${step.name}`} depth={1} />
                    )}
                  </li>
                ))}
              </ol>
            </section>
          )}
        </div>
      )}
    </Section>
  );
}

/** The task and the id of a run. */
export const RunLink = ({ run: { id, taskIdentifier } }: { readonly run: TokenRun }) => (
  <PageLink to={`/runs/${id}`}>
    <span className="strong">{visibleControls(taskIdentifier)}</span>{' '}
    <span className="mono">{shortId(id)}</span>
  </PageLink>
);
