import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import i18next from 'i18next';
import Backend from 'i18next-fs-backend';

export default async () => {
  const dir = await mkdtemp(join(tmpdir(), 'i18n-'));
  await writeFile(join(dir, 'de.json'), '{"hi":"Hallo"}');
  const i18n = i18next.createInstance().use(Backend);
  await i18n.init({ lng: 'de', backend: { loadPath: join(dir, '{{lng}}.json') } });
  return i18n.t('hi');
};
