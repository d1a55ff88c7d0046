import FormData from 'form-data';

export default async () => {
  const form = new FormData();
  form.append('a', 'b', { filename: 'a.pdf' });
  return form.getBuffer().includes('application/pdf');
};
