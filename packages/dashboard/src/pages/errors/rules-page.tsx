import type { ErrorRule } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time/time.tsx';
import { RuleDialog } from './rule-dialog.tsx';
// The table's style.
import '../../parts/plot/plot.css';
import './errors.css';

/** The project's rules that group errors, in the order in which they are evaluated. */
export function RulesPage() {
  const { project: projectRef } = useEnvironment();
  const [isAdding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<ErrorRule>();
  const may = useMay();
  const input = { params: { projectRef } };
  const rules = useAsk('listErrorRules', input, { inEnvironment: false });
  const invalidates = ['listErrorRules'] as const;
  const move = useAct('updateErrorRule', { inEnvironment: false, invalidates });
  const remove = useAct('deleteErrorRule', {
    inEnvironment: false,
    invalidates,
    showsErrors: true,
    done: 'Rule deleted',
    onDone: () => setDeleting(undefined),
  });
  const all = rules.data?.data ?? [];
  return (
    <Page
      title="Error grouping rules"
      summary={
        rules.data &&
        `${countText(all.length, 'rule')} of the project, for all environments. The first match applies.`
      }
      actions={
        <>
          {may('createErrorRule') && (
            <Button icon="plus" variant="main" onClick={() => setAdding(true)}>
              Add a rule
            </Button>
          )}
          <CodeExample
            operation="listErrorRules"
            input={input}
            cli="errors rules list"
            sdk={`import { errors } from '@millrace/sdk';\n\nfor (const rule of await errors.rules.list('${projectRef}')) console.log(rule.position, rule.groupKey);`}
          />
        </>
      }
    >
      {rules.error && !rules.data ? (
        <Failure error={rules.error} onRetry={() => void rules.refetch()} />
      ) : !rules.data ? (
        <Skeleton lines={5} label="Loading rules" />
      ) : all.length === 0 ? (
        <Empty
          title="No rules: errors are grouped automatically."
          command="npx millrace errors rules try --message 'connect ETIMEDOUT*' --group network"
        >
          A rule puts errors that match its patterns into one group. Trying one changes nothing.
        </Empty>
      ) : (
        <div className="card scroll-x" tabIndex={0} role="region" aria-label="Rules">
          <table className="plain-table rules-table">
            <thead>
              <tr>
                <th scope="col">Order</th>
                <th scope="col">Task</th>
                <th scope="col">Type</th>
                <th scope="col">Message</th>
                <th scope="col">Group</th>
                <th scope="col">Changed</th>
                <th scope="col">
                  <span className="hidden-text">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map((rule) => (
                <tr key={rule.id}>
                  <td className="number">{rule.position}</td>
                  {[rule.task, rule.type, rule.message].map((pattern, index) => (
                    <td key={index} className="any-break">
                      {pattern === null ? (
                        <span className="muted">any</span>
                      ) : (
                        <code>{visibleControls(pattern)}</code>
                      )}
                    </td>
                  ))}
                  <td className="strong any-break">{visibleControls(rule.groupKey)}</td>
                  <td>
                    <Time at={rule.updatedAt} />
                  </td>
                  <td>
                    {may('updateErrorRule') && (
                      <span className="row">
                        <IconButton
                          icon="up"
                          label={`Move the rule of ${rule.groupKey} up`}
                          disabled={rule.position === 1 || move.isPending}
                          onClick={() =>
                            move.mutate({
                              params: { projectRef, ruleId: rule.id },
                              body: { position: rule.position - 1 },
                            })
                          }
                        />
                        <IconButton
                          icon="down"
                          label={`Move the rule of ${rule.groupKey} down`}
                          disabled={rule.position === all.length || move.isPending}
                          onClick={() =>
                            move.mutate({
                              params: { projectRef, ruleId: rule.id },
                              body: { position: rule.position + 1 },
                            })
                          }
                        />
                        <IconButton
                          icon="trash"
                          label={`Delete the rule of ${rule.groupKey}`}
                          onClick={() => setDeleting(rule)}
                        />
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <RuleDialog isOpen={isAdding} onClose={() => setAdding(false)} />
      <Confirm
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={`Delete the rule of “${visibleControls(deleting?.groupKey ?? '')}”?`}
        action="Delete the rule"
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => deleting && remove.mutate({ params: { projectRef, ruleId: deleting.id } })}
      >
        Later errors are grouped without it. Existing groups are unchanged.
      </Confirm>
    </Page>
  );
}
