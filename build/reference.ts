import { cp, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Copies Swagger UI, which the server serves at `/reference`, into the server's package. */
export async function copyReference(packageFolder: string): Promise<void> {
  const entry = createRequire(join(packageFolder, 'package.json')).resolve('@fastify/swagger-ui');
  const folder = join(packageFolder, 'reference');
  await mkdir(folder, { recursive: true });
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
    await cp(join(dirname(entry), 'static', file), join(folder, file));
  }
}
