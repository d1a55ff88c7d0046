import { fileTypeFromBuffer } from 'file-type';
import { PNG } from 'pngjs';

export default async () => fileTypeFromBuffer(PNG.sync.write(new PNG({ width: 3, height: 2 })));
