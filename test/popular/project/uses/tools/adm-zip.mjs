import AdmZip from 'adm-zip';

export default async () => {
  const zip = new AdmZip();
  zip.addFile('a.txt', Buffer.from('hello'));
  return new AdmZip(zip.toBuffer()).readAsText('a.txt');
};
