import { useState } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { allows, useProject } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure, Skeleton } from '../../../parts/failure.tsx';
import { Id } from '../../../parts/id.tsx';
import { Properties, Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { DeleteProject } from './delete-project.tsx';
import { EnvironmentTable } from './environment-table.tsx';
import { RenameProject } from './rename-project.tsx';

/** The project as a whole: its name, its environments, and its deletion. */
export function ProjectSection() {
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const session = useProject();
  const projectRef = session?.ref ?? '';
  const input = { params: { projectRef } };
  const project = useAsk('retrieveProject', input, { inEnvironment: false, enabled: session !== undefined });
  if (project.error && !project.data)
    return <Failure error={project.error} onRetry={() => void project.refetch()} />;
  if (!project.data) return <Skeleton lines={6} label="Loading the project" />;
  const { name, createdAt, organization, role } = project.data;
  const close = (): void => setDialog(undefined);
  return (
    <div className="stack settings-project">
      <Section
        title="Project"
        actions={
          allows(role, 'updateProject') && (
            <Button onClick={() => setDialog('rename')}>Rename the project</Button>
          )
        }
      >
        <Properties
          properties={[
            ['Name', name],
            ['Ref', <Id key="ref" id={projectRef} />],
            ['Organization', organization.name],
            ['Created', <Time key="created" at={createdAt} />],
          ]}
        />
      </Section>
      <Section title="Environments">
        <EnvironmentTable projectRef={projectRef} role={role} />
      </Section>
      {allows(role, 'deleteProject') && (
        <Section title="Delete the project">
          <p className="muted settings-text">
            Ends all of its environments immediately, with every run, log, variable and key in them. This
            cannot be undone.
          </p>
          <div className="row">
            <Button variant="danger" onClick={() => setDialog('delete')}>
              Delete {name}
            </Button>
          </div>
        </Section>
      )}
      {dialog === 'rename' && <RenameProject projectRef={projectRef} name={name} onClose={close} />}
      {dialog === 'delete' && <DeleteProject projectRef={projectRef} name={name} onClose={close} />}
    </div>
  );
}
