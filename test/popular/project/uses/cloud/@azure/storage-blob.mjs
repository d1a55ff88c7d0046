import { BlobServiceClient } from '@azure/storage-blob';

export default async () =>
  new BlobServiceClient('https://a.blob.core.windows.net').getContainerClient('b').url;
