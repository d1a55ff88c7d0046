import { logger, metadata, task, trace } from '@millrace/sdk';
import { z } from 'zod';
import { call } from '../lib/service.ts';

const maxPixels = 50_000_000;

export const resizeImage = task({
  id: 'resize-image',
  description: 'Creates the sizes of an image that the pages of the shop need',
  schema: z.object({ sku: z.string(), file: z.string(), widths: z.array(z.number().int()).min(1) }),
  queue: { name: 'images', concurrencyLimit: 3 },
  retry: { maxAttempts: 2, minTimeoutInMs: 200 },
  run: async ({ sku, file, widths }) => {
    const picture = await call<{ format: string; pixels: number; bytes: string | null }>(
      'images',
      `/originals/${file}`,
    );
    if (!['jpeg', 'png', 'webp'].includes(picture.format))
      throw new TypeError(`Pictures of the format ${picture.format} cannot be resized`);
    if (picture.pixels > maxPixels)
      throw new RangeError(`The picture has ${picture.pixels} pixels, too many to resize`);
    const sizes: string[] = [];
    for (const width of widths) {
      await trace(`resize to ${width}`, async () => decode(picture.bytes));
      sizes.push(`${file.replace(/\.\w+$/, '')}-${width}.webp`);
      metadata.set('done', sizes.length / widths.length);
    }
    logger.info('Resized', { sku, sizes: sizes.length });
    return { sku, sizes };
  },
});

function decode(bytes: string | null): Buffer {
  const data = Buffer.from(bytes ?? '', 'base64');
  if (data.length === 0) throw new Error('VipsJpeg: premature end of JPEG image');
  return data;
}
