import { useState } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { allows, useProject } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure, Skeleton } from '../../../parts/failure.tsx';
import { Id } from '../../../parts/id.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { DeleteProject } from './delete-project.tsx';
import { EnvironmentTable } from './environment-table.tsx';
import { RenameProject } from './rename-project.tsx';

/** The project as a whole: its name, its environments, and its deletion. */
export function ProjectSection() {
  const [asked, setAsked] = useState<'rename' | 'delete'>();
  const session = useProject();
  const projectRef = session?.ref ?? '';
  const given = { params: { projectRef } };
  const project = useAsk('retrieveProject', given, { inEnvironment: false, enabled: session !== undefined });
  if (project.error && !project.data)
    return <Failure error={project.error} onRetry={() => void project.refetch()} />;
  if (!project.data) return <Skeleton lines={6} label="Loading the project" />;
  const { name, createdAt, organization, role } = project.data;
  const close = (): void => setAsked(undefined);
  return (
    <div className="stack settings-project">
      <Section
        title="Project"
        actions={
          allows(role, 'updateProject') && (
            <Button onClick={() => setAsked('rename')}>Rename the project</Button>
          )
        }
      >
        <Facts
          facts={[
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
            All of its environments end at once, with every run, log, variable and key in them. It cannot be
            undone.
          </p>
          <div className="row">
            <Button look="danger" onClick={() => setAsked('delete')}>
              Delete {name}
            </Button>
          </div>
        </Section>
      )}
      {asked === 'rename' && <RenameProject projectRef={projectRef} name={name} onClose={close} />}
      {asked === 'delete' && <DeleteProject projectRef={projectRef} name={name} onClose={close} />}
    </div>
  );
}
