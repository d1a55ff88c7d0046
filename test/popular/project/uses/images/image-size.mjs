import { imageSize } from 'image-size';
import { PNG } from 'pngjs';

export default async () => imageSize(PNG.sync.write(new PNG({ width: 3, height: 2 })));
