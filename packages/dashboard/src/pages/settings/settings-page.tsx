import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { environmentNames, useMay, useProject } from '../../api/session.ts';
import { useEnvironment } from '../../api/environment.ts';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { AuditSection } from './audit/audit-section.tsx';
import { KeysSection } from './keys/keys-section.tsx';
import { MembersSection } from './members/members-section.tsx';
import { ProjectSection } from './project/project-section.tsx';
import { StorageSection } from './storage-section.tsx';
import '../../parts/tabs.css';
import './settings.css';

interface SettingsSection {
  readonly id: string;
  readonly label: string;
  /** The subject of a section: the environment, or the organization. */
  readonly about: 'environment' | 'project' | 'organization' | 'installation';
  readonly isShown: boolean;
  readonly content: ReactNode;
}

/** Keys of the environment, members of the organization, the audit log and storage. */
export function SettingsPage() {
  const { section = 'keys' } = useParams({ strict: false }) as { section?: string };
  const { kind } = useEnvironment();
  const project = useProject();
  const may = useMay();
  const sections: readonly SettingsSection[] = [
    { id: 'keys', label: 'Secret keys', about: 'environment', isShown: true, content: <KeysSection /> },
    { id: 'project', label: 'Project', about: 'project', isShown: true, content: <ProjectSection /> },
    { id: 'members', label: 'Members', about: 'organization', isShown: true, content: <MembersSection /> },
    {
      id: 'audit',
      label: 'Audit log',
      about: 'organization',
      isShown: may('listAuditEntries'),
      content: <AuditSection />,
    },
    {
      id: 'storage',
      label: 'Storage',
      about: 'installation',
      isShown: project?.role === 'owner',
      content: <StorageSection />,
    },
  ];
  const open = sections.find(({ id }) => id === section);
  const subject = {
    environment: `${project?.name ?? ''}, ${environmentNames[kind as keyof typeof environmentNames] ?? kind}`,
    project: project?.name ?? '',
    organization: project?.organization.name ?? '',
    installation: 'This server',
  };
  return (
    <Page title="Settings" summary={open ? subject[open.about] : ' '}>
      <nav aria-label="Settings" className="tabs-line">
        <div className="tabs-list">
          {sections
            .filter(({ isShown, id }) => isShown || id === section)
            .map(({ id, label }) => (
              <PageLink
                key={id}
                to={`/settings/${id}`}
                className="tab settings-tab"
                aria-current={id === section ? 'page' : undefined}
                data-active={id === section ? '' : undefined}
              >
                {label}
              </PageLink>
            ))}
        </div>
      </nav>
      {!open ? (
        <Empty title="Settings page not found.">Choose a page above.</Empty>
      ) : open.isShown ? (
        open.content
      ) : (
        <Empty title="Your role does not allow this.">
          {open.id === 'storage'
            ? 'Owners can see the storage that the installation uses.'
            : 'Admins and owners of the organization can see the audit log.'}
        </Empty>
      )}
    </Page>
  );
}
