import JSZip from 'jszip';

export default async () => {
  const bytes = await new JSZip().file('a.txt', 'hello').generateAsync({ type: 'uint8array' });
  return (await JSZip.loadAsync(bytes)).file('a.txt').async('text');
};
